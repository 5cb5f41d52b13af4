#include "tessera/owner/sharing_of_objects.hpp"

#include <algorithm>
#include <string>

#include "tessera/base/assert.hpp"
#include "tessera/pattern/assembler.hpp"

namespace tessera::owner {

using base::Code;
using base::fail;
using base::Result;
using object::Object;
using object::ObjectSet;
using pattern::Interval;

namespace {

// The lists of a sharing for the sets of an object set, each interned when it is met first.
class Lists {
 public:
  Lists(const ObjectSet& objects, Sharing& sharing) : objects_(objects), sharing_(sharing) {}

  HoldersId of(object::SharersId sharers) {
    constexpr HoldersId kUnknown = -1;
    const auto i = static_cast<size_t>(sharers);
    if (i >= known_.size()) known_.resize(i + 1, kUnknown);
    if (known_[i] == kUnknown) known_[i] = sharing_.intern(objects_.sharers(sharers));
    return known_[i];
  }

 private:
  const ObjectSet& objects_;
  Sharing& sharing_;
  std::vector<HoldersId> known_;
};

int process_count(const ObjectSet& objects) {
  const std::vector<Process> processes = objects.processes();
  return processes.empty() ? 1 : *std::max_element(processes.begin(), processes.end()) + 1;
}

}  // namespace

Result<ObjectSharing> sharing_of(const ObjectSet& objects, int64_t max_objects) {
  const int64_t count = objects.object_count();
  if (count > max_objects) {
    return fail(Code::kTooComplex, "the views cut the file into " + std::to_string(count) +
                                       " objects, and writers are chosen for at most " +
                                       std::to_string(max_objects));
  }
  ObjectSharing result = {Sharing(process_count(objects)), {}};
  Lists lists(objects, result.sharing);
  objects.for_each_meeting(objects.range(), [&](const Object& object) {
    if (!result.pieces.empty() && result.pieces.back().end == object.bytes.begin) {
      result.pieces.back().end = object.bytes.end;
    } else {
      result.pieces.push_back(object.bytes);
      result.sharing.leave_gap();
    }
    result.sharing.append(object.bytes.length(), lists.of(object.sharers));
    return true;
  });
  return result;
}

pattern::ByteSet share_of(const ObjectSharing& objects, const Writers& writers, Process writer) {
  TESSERA_ASSERT(writers.items() == objects.sharing.items());
  pattern::Assembler<1> share;
  auto interval = writers.intervals().begin();
  int64_t item = 0;
  for (const Interval& piece : objects.pieces) {
    for (int64_t at = piece.begin; at < piece.end;) {
      const int64_t length = std::min(piece.end - at, interval->end - item);
      if (interval->writer == writer) share.append_run({{at}}, length);
      at += length;
      item += length;
      if (item == interval->end) ++interval;
    }
  }
  return pattern::ByteSet::of_ascending(share.finish_in_bounds());
}

}  // namespace tessera::owner
