#include "tessera/daemon/lock_admin.hpp"

#include <utility>

#include "tessera/base/checked.hpp"

namespace tessera::daemon {

namespace {

// Requests that are looked at for one page.
constexpr uint64_t kLookedAtMax = 4096;

lock::LockRow row_of(const lock::LockServer& server, const lock::LockServer::View& view,
                     int64_t now_ns) {
  lock::LockRow row;
  row.lock = view.id();
  row.file = view.file;
  row.client = view.client;
  row.mode = view.claim->mode;
  row.state = view.state;
  row.age_ns = now_ns - view.since_ns;
  row.lease_left_ns = view.lease_ns_left;
  if (view.waits_for) row.waits_for = server.id_of(*view.waits_for);
  row.size_bytes = view.claim->bytes.size();
  row.runs = view.claim->bytes.runs();
  row.begin = view.claim->bytes.span().begin;
  row.end = view.claim->bytes.span().end;
  return row;
}

}  // namespace

lock::ServerFacts facts_of(const lock::LockServer& server, int64_t uptime_ns) {
  lock::ServerFacts facts;
  facts.epoch = server.epoch();
  facts.in_grace = server.in_grace();
  facts.lease_ns = server.lease_ns();
  facts.uptime_ns = uptime_ns;
  facts.sessions = base::exact_cast<int64_t>(server.sessions());
  facts.requests = base::exact_cast<int64_t>(server.requests());
  facts.held = base::exact_cast<int64_t>(server.held());
  facts.early = base::exact_cast<int64_t>(server.early());
  facts.files = base::exact_cast<int64_t>(server.files());
  facts.pattern_bytes = base::exact_cast<int64_t>(server.pattern_bytes());
  facts.counts = server.counts();
  return facts;
}

LockAdmin::LockAdmin(lock::LockServer& server, int64_t start_ns, Log log)
    : server_(server), start_ns_(start_ns), log_(std::move(log)) {}

base::Result<base::Bytes> LockAdmin::answer(base::ByteView frame, int64_t now_ns) {
  TESSERA_TRY(const lock::AdminMessage message, lock::decode_admin(frame));
  if (const auto* asked = std::get_if<lock::ListLocks>(&message)) {
    return lock::encode(list(*asked, now_ns));
  }
  if (const auto* asked = std::get_if<lock::BreakLock>(&message)) {
    return lock::encode(break_lock(*asked));
  }
  if (const auto* asked = std::get_if<lock::OpenToNodes>(&message)) {
    return lock::encode(open(*asked));
  }
  return base::fail(base::Code::kIntegrity, "a message that only servers send");
}

lock::OpenedToNodes LockAdmin::open(const lock::OpenToNodes& asked) const {
  if (!open_) return {};
  auto opened = open_(asked.host);
  if (opened) return *std::move(opened);
  log_("cannot be opened to other nodes: " + opened.error().message());
  return {};
}

lock::LockList LockAdmin::list(const lock::ListLocks& asked, int64_t now_ns) {
  lock::LockList page;
  page.facts = facts_of(server_, now_ns - start_ns_);
  page.next = asked.after;
  uint64_t looked_at = 0;
  server_.visit_after(asked.after, now_ns, [&](const lock::LockServer::View& view) {
    page.complete = page.rows.size() < asked.rows_max && looked_at < kLookedAtMax;
    if (!page.complete) return false;
    ++looked_at;
    page.next = view.id();
    if (!asked.file || view.file == *asked.file) {
      page.rows.push_back(row_of(server_, view, now_ns));
    }
    return true;
  });
  return page;
}

lock::LockBroken LockAdmin::break_lock(const lock::BreakLock& asked) {
  if (asked.epoch != server_.epoch()) return {lock::BreakOutcome::kOtherEpoch};
  if (!server_.break_lock(asked.lock.session, asked.lock.sequence)) {
    return {lock::BreakOutcome::kNotThere};
  }
  log_("lock " + lock::to_string(asked.lock) + " was broken by an administrator");
  return {lock::BreakOutcome::kBroken};
}

}  // namespace tessera::daemon
