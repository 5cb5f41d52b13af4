#include "tessera/mpiio/group.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <utility>

#include "tessera/base/checked.hpp"
#include "tessera/base/hot.hpp"
#include "tessera/mpiio/fault.hpp"
#include "tessera/mpiio/mpi_exchange.hpp"
#include "tessera/mpiio/node_exchange.hpp"
#include "tessera/mpiio/shared_numbers.hpp"
#include "tessera/port/guarded.hpp"
#include "tessera/port/process_team.hpp"
#include "tessera/port/self_team.hpp"

namespace tessera::mpiio {

namespace {

base::Result<void> check(int code, const char* what) {
  if (code != MPI_SUCCESS) return fault(MPI_ERR_IO, std::string("MPI failed to ") + what);
  return {};
}

// A communicator of ours; freed with it, unless MPI has ended before.
class OwnComm {
 public:
  OwnComm() = default;
  OwnComm(OwnComm&& other) noexcept : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}
  OwnComm& operator=(OwnComm&& other) noexcept {
    std::swap(comm_, other.comm_);
    return *this;
  }
  ~OwnComm() {
    int finalized = 0;
    PMPI_Finalized(&finalized);
    if (comm_ != MPI_COMM_NULL && finalized == 0) PMPI_Comm_free(&comm_);
  }

  // The ranks of one color, in the order of `from`; no communicator for MPI_UNDEFINED. A split and
  // no duplicate, so that attributes of the program are not copied.
  static base::Result<OwnComm> split(MPI_Comm from, int color) {
    OwnComm made;
    TESSERA_TRY_VOID(check(PMPI_Comm_split(from, color, 0, &made.comm_), "split a communicator"));
    made.return_errors();
    return made;
  }
  // The ranks of this node, in the order of `from`.
  static base::Result<OwnComm> split_by_node(MPI_Comm from) {
    OwnComm made;
    TESSERA_TRY_VOID(
        check(PMPI_Comm_split_type(from, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made.comm_),
              "find nodes"));
    made.return_errors();
    return made;
  }

  [[nodiscard]] MPI_Comm get() const { return comm_; }
  [[nodiscard]] explicit operator bool() const { return comm_ != MPI_COMM_NULL; }

 private:
  void return_errors() const {
    if (comm_ != MPI_COMM_NULL) PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
};

// Makes MPI progress, for ranks that wait elsewhere.
port::ProcessTeam::Idle poller(MPI_Comm comm) {
  return [comm] {
    int flag = 0;
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
  };
}

base::Bytes bytes_of(const port::TeamAddress& address) {
  const auto* begin = reinterpret_cast<const std::byte*>(&address);
  return {begin, begin + sizeof(address)};
}

// A team of the ranks of an exchange, which are on one node. Fails on all of them alike.
base::Result<std::unique_ptr<port::ProcessTeam>> make_team(port::Exchange& exchange,
                                                           const port::ProcessTeam::Idle& idle) {
  base::Result<std::unique_ptr<port::ProcessTeam>> team =
      base::fail(base::Code::kFailed, "not yet joined");
  port::TeamAddress address;
  if (exchange.rank() == 0) {
    team = port::ProcessTeam::found(exchange.size(), idle);
    if (team) address = (*team)->address();
  }
  TESSERA_TRY(const base::Bytes told, exchange.broadcast(0, bytes_of(address)));
  if (exchange.rank() != 0) {
    std::copy(told.begin(), told.end(), reinterpret_cast<std::byte*>(&address));
    team = port::ProcessTeam::join(address, exchange.rank(), idle);
  }
  TESSERA_TRY_VOID(
      exchange.agree(team ? base::Result<void>() : base::Result<void>(base::failure_of(team))));
  return team;
}

// Which ranks are on which node. Nodes are numbered by their lowest rank.
struct NodeMap {
  std::vector<int> node;                  // of each rank
  std::vector<std::vector<int>> members;  // of each node, ascending

  explicit NodeMap(const std::vector<int>& label) : node(label.size()) {
    std::vector<int> seen;
    for (size_t rank = 0; rank < label.size(); ++rank) {
      const auto found = std::find(seen.begin(), seen.end(), label[rank]);
      const auto index = static_cast<size_t>(found - seen.begin());
      if (found == seen.end()) {
        seen.push_back(label[rank]);
        members.emplace_back();
      }
      node[rank] = static_cast<int>(index);
      members[index].push_back(static_cast<int>(rank));
    }
  }
  [[nodiscard]] const std::vector<int>& members_of(int rank) const {
    return members[static_cast<size_t>(node[static_cast<size_t>(rank)])];
  }
};

// TESSERA_FAKE_NODES: into how many nodes the ranks are split for tests; 0 if they are not.
int fake_nodes() {
  const char* text = std::getenv("TESSERA_FAKE_NODES");
  return text == nullptr ? 0 : std::max(0, std::atoi(text));
}

// The communicators of a group. To make one takes MPI longer than all else that a first open does,
// so ranks of one node have one: then `node` is null, and `all` is that of the node, too.
struct Comms {
  OwnComm all;
  OwnComm node;
  OwnComm leaders;  // the first ranks of all nodes
};

// Where the ranks of a communicator are, and what finding that out has made.
struct Found {
  NodeMap map;
  Comms comms;
};

// `label` is a number that the ranks of one node have in common and no others do.
base::Result<NodeMap> gather_labels(MPI_Comm all, int label, int size) {
  std::vector<int> labels(static_cast<size_t>(size));
  TESSERA_TRY_VOID(
      check(PMPI_Allgather(&label, 1, MPI_INT, labels.data(), 1, MPI_INT, all), "find nodes"));
  return NodeMap(labels);
}

base::Result<Found> find_nodes(MPI_Comm comm) {
  int rank = 0;
  int size = 1;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  Comms comms;
  if (const int count = fake_nodes(); count > 0) {
    TESSERA_TRY(comms.all, OwnComm::split(comm, 0));
    TESSERA_TRY(NodeMap map,
                gather_labels(comms.all.get(), rank * std::min(count, size) / size, size));
    return Found{std::move(map), std::move(comms)};
  }
  TESSERA_TRY(comms.node, OwnComm::split_by_node(comm));
  int here = 1;
  PMPI_Comm_size(comms.node.get(), &here);
  if (here == size) {
    comms.all = std::exchange(comms.node, OwnComm());
    return Found{NodeMap(std::vector<int>(static_cast<size_t>(size))), std::move(comms)};
  }
  TESSERA_TRY(comms.all, OwnComm::split(comm, 0));
  int label = rank;
  TESSERA_TRY_VOID(check(PMPI_Bcast(&label, 1, MPI_INT, 0, comms.node.get()), "find nodes"));
  TESSERA_TRY(NodeMap map, gather_labels(comms.all.get(), label, size));
  return Found{std::move(map), std::move(comms)};
}

size_t index_of(Number which) { return static_cast<size_t>(which); }

// One rank alone.
class SelfGroup final : public Group {
 public:
  port::Exchange& exchange() override { return team_; }
  port::Team* team() override { return &team_; }
  [[nodiscard]] std::span<const int> nodes() const override { return {&node_, 1}; }
  [[nodiscard]] int node_size() const override { return 1; }
  [[nodiscard]] int node_rank() const override { return 0; }
  port::SharedNumber& number(Number which) override { return numbers_[index_of(which)]; }

 private:
  port::SelfTeam team_;
  int node_ = 0;
  std::array<port::OwnNumber, kNumbers> numbers_;
};

// What a group is made with: the ways in which its ranks already reach each other.
struct Ways {
  const NodeMap& map;
  port::Exchange& node;      // the ranks of this node
  port::Exchange& everyone;  // all ranks
  MPI_Comm leaders;          // the first ranks of all nodes; MPI_COMM_NULL elsewhere
  MPI_Comm all;
};

// The group of several ranks. Members are destroyed in reverse order.
class CommGroup final : public Group {
 public:
  // Collective; fails on all ranks alike.
  static base::Result<std::unique_ptr<CommGroup>> make(const Ways& ways) {
    std::unique_ptr<CommGroup> group(new CommGroup(ways.map));
    TESSERA_TRY_VOID(ways.everyone.agree(group->join_node(ways)));
    if (ways.map.members.size() > 1) {
      TESSERA_TRY_VOID(ways.everyone.agree(group->join_nodes(ways)));
      TESSERA_TRY_VOID(ways.everyone.agree(group->share_numbers(ways)));
    }
    return group;
  }

  port::Exchange& exchange() override {
    return across_ ? static_cast<port::Exchange&>(*across_) : *team_;
  }
  TESSERA_HOT port::Team* team() override { return across_ ? nullptr : team_.get(); }
  [[nodiscard]] std::span<const int> nodes() const override { return map_.node; }
  [[nodiscard]] int node_size() const override { return team_->size(); }
  [[nodiscard]] int node_rank() const override { return team_->rank(); }
  port::SharedNumber& number(Number which) override { return *numbers_[index_of(which)]; }
  [[nodiscard]] port::Team& node_team() { return *team_; }

 private:
  explicit CommGroup(const NodeMap& map) : map_(map) {}

  base::Result<void> join_node(const Ways& ways) {
    if (ways.node.size() == 1) {
      team_ = std::make_unique<port::SelfTeam>();
      return {};
    }
    TESSERA_TRY(auto team, make_team(ways.node, poller(ways.all)));
    if (map_.members.size() == 1) {
      for (int i = 0; i < kNumbers; ++i) {
        numbers_[static_cast<size_t>(i)] = std::make_unique<TeamNumber>(*team, i);
      }
    }
    team_ = std::move(team);
    return {};
  }

  base::Result<void> join_nodes(const Ways& ways) {
    if (ways.leaders != MPI_COMM_NULL) {
      TESSERA_TRY(leaders_, OwnComm::split(ways.leaders, 0));
      between_.emplace(leaders_.get());
    }
    NodeExchange::Places places;
    PMPI_Comm_rank(ways.all, &places.rank);
    places.members = map_.members;
    across_.emplace(std::move(places), *team_, between_ ? &*between_ : nullptr);
    return {};
  }

  base::Result<void> share_numbers(const Ways& ways) {
    TESSERA_TRY(hosted_, HostedNumbers::make(ways.everyone, kNumbers));
    for (int i = 0; i < kNumbers; ++i) numbers_[static_cast<size_t>(i)] = hosted_->take(i);
    return {};
  }

  const NodeMap map_;
  std::unique_ptr<port::Team> team_;
  OwnComm leaders_;
  std::optional<MpiExchange> between_;
  std::optional<NodeExchange> across_;
  std::unique_ptr<HostedNumbers> hosted_;  // of several nodes
  std::array<std::unique_ptr<port::SharedNumber>, kNumbers> numbers_;
};

// What is kept for a communicator of several ranks.
class CommState {
 public:
  static base::Result<std::shared_ptr<CommState>> make(MPI_Comm comm);

  // A group that is free on all ranks, or a new one. Collective.
  static base::Result<std::shared_ptr<Group>> take(const std::shared_ptr<CommState>& state);

 private:
  explicit CommState(Found found) : map_(std::move(found.map)), comms_(std::move(found.comms)) {}

  base::Result<void> connect(int rank);
  base::Result<size_t> choose_free();

  struct Slot {
    std::unique_ptr<CommGroup> group;
    bool busy = false;
  };

  NodeMap map_;
  Comms comms_;
  std::unique_ptr<CommGroup> first_;  // coordinates opens
  std::vector<Slot> slots_;
};

base::Result<std::shared_ptr<CommState>> CommState::make(MPI_Comm comm) {
  TESSERA_TRY(Found found, find_nodes(comm));
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  for (;;) {
    std::shared_ptr<CommState> state(new CommState(std::move(found)));
    const base::Result<void> connected = state->connect(rank);
    if (connected) return state;
    // Ranks that cannot see each other's memory are nodes of their own.
    std::vector<int> labels = state->map_.node;
    if (state->map_.members.size() == labels.size()) return base::failure_of(connected);
    std::iota(labels.begin(), labels.end(), 0);
    found = {NodeMap(labels), {std::move(state->comms_.all), {}, {}}};
  }
}

base::Result<void> CommState::connect(int rank) {
  const bool leads = map_.members_of(rank).front() == rank;
  const MPI_Comm all = comms_.all.get();
  if (map_.members.size() > 1) {
    const int color = map_.node[static_cast<size_t>(rank)];
    if (!comms_.node) {
      TESSERA_TRY(comms_.node, OwnComm::split(all, color));
    }
    TESSERA_TRY(comms_.leaders, OwnComm::split(all, leads ? 0 : MPI_UNDEFINED));
  }
  MpiExchange node(comms_.node ? comms_.node.get() : all);
  MpiExchange everyone(all);
  TESSERA_TRY(first_, CommGroup::make({map_, node, everyone, comms_.leaders.get(), all}));
  return {};
}

base::Result<size_t> CommState::choose_free() {
  base::Bytes busy(slots_.size());
  for (size_t i = 0; i < slots_.size(); ++i) busy[i] = slots_[i].busy ? std::byte{1} : std::byte{0};
  TESSERA_TRY(const auto all, first_->exchange().all_gather(std::move(busy)));
  for (size_t i = 0; i < slots_.size(); ++i) {
    const auto is_free = [i](const base::Bytes& of) {
      return i < of.size() && of[i] == std::byte{0};
    };
    if (std::all_of(all.begin(), all.end(), is_free)) return i;
  }
  return slots_.size();
}

base::Result<std::shared_ptr<Group>> CommState::take(const std::shared_ptr<CommState>& state) {
  TESSERA_TRY(const size_t index, state->choose_free());
  if (index == state->slots_.size()) {
    CommGroup& first = *state->first_;
    TESSERA_TRY(auto group,
                CommGroup::make({state->map_, first.node_team(), first.exchange(),
                                 state->comms_.leaders.get(), state->comms_.all.get()}));
    state->slots_.push_back({std::move(group)});
  }
  Slot& slot = state->slots_[index];
  slot.busy = true;
  return std::shared_ptr<Group>(slot.group.get(),
                                [state, index](Group*) { state->slots_[index].busy = false; });
}

// Communicators that have a state, for MPI_Finalize.
struct Keyval {
  int keyval = MPI_KEYVAL_INVALID;
  std::vector<MPI_Comm> comms;
};

port::Guarded<Keyval>& keyval() {
  static auto& value = *new port::Guarded<Keyval>;
  return value;
}

int drop_state(MPI_Comm comm, int /*key*/, void* value, void* /*extra*/) {
  keyval().with([&](Keyval& all) { std::erase(all.comms, comm); });
  delete static_cast<std::shared_ptr<CommState>*>(value);
  return MPI_SUCCESS;
}

int state_key() {
  return keyval().with([](Keyval& value) {
    if (value.keyval == MPI_KEYVAL_INVALID) {
      PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop_state, &value.keyval, nullptr);
    }
    return value.keyval;
  });
}

base::Result<std::shared_ptr<CommState>> state_of(MPI_Comm comm) {
  void* value = nullptr;
  int found = 0;
  const int key = state_key();
  TESSERA_TRY_VOID(check(PMPI_Comm_get_attr(comm, key, &value, &found), "look at a communicator"));
  if (found != 0) return *static_cast<std::shared_ptr<CommState>*>(value);
  TESSERA_TRY(auto state, CommState::make(comm));
  auto kept = std::make_unique<std::shared_ptr<CommState>>(state);
  TESSERA_TRY_VOID(check(PMPI_Comm_set_attr(comm, key, kept.get()), "mark a communicator"));
  kept.release();
  keyval().with([&](Keyval& all) { all.comms.push_back(comm); });
  return state;
}

}  // namespace

base::Result<std::shared_ptr<Group>> take_group(MPI_Comm communicator) {
  int between = 0;
  if (communicator == MPI_COMM_NULL ||
      PMPI_Comm_test_inter(communicator, &between) != MPI_SUCCESS || between != 0) {
    return fault(MPI_ERR_COMM, "a file is opened on an intracommunicator");
  }
  int size = 1;
  PMPI_Comm_size(communicator, &size);
  if (size == 1) return std::shared_ptr<Group>(std::make_shared<SelfGroup>());
  TESSERA_TRY(const auto state, state_of(communicator));
  return CommState::take(state);
}

base::Result<MPI_Group> process_group(MPI_Comm communicator) {
  MPI_Group group = MPI_GROUP_NULL;
  TESSERA_TRY_VOID(check(PMPI_Comm_group(communicator, &group), "find the group of a file"));
  return group;
}

void end_groups() {
  Keyval ended = keyval().with([](Keyval& value) { return std::exchange(value, Keyval()); });
  if (ended.keyval == MPI_KEYVAL_INVALID) return;
  for (MPI_Comm comm : ended.comms) PMPI_Comm_delete_attr(comm, ended.keyval);
  PMPI_Comm_free_keyval(&ended.keyval);
}

}  // namespace tessera::mpiio
