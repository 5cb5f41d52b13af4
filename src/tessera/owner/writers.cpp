#include "tessera/owner/writers.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/owner/balanced.hpp"
#include "tessera/owner/policies.hpp"

namespace tessera::owner {

using base::Code;
using base::fail;
using base::Result;

namespace {

constexpr std::array kPolicies = {Policy::kHome, Policy::kRandom,  Policy::kFirst,
                                  Policy::kIdg,  Policy::kOptimal, Policy::kBalanced};

}  // namespace

std::string_view policy_name(Policy policy) {
  switch (policy) {
    case Policy::kHome:
      return "metis";
    case Policy::kRandom:
      return "random";
    case Policy::kFirst:
      return "first";
    case Policy::kIdg:
      return "idg";
    case Policy::kOptimal:
      return "optimal";
    case Policy::kBalanced:
      return "balanced";
  }
  TESSERA_ASSERT(false);
}

Result<Policy> parse_policy(std::string_view name) {
  std::string known;
  for (const Policy policy : kPolicies) {
    if (policy_name(policy) == name) return policy;
    known += (known.empty() ? "" : ", ") + std::string(policy_name(policy));
  }
  return fail(Code::kInvalid,
              "no policy is called \"" + std::string(name) + "\"; there are " + known);
}

std::span<const Policy> all_policies() { return kPolicies; }

void Writers::append(int64_t count, Process writer) {
  TESSERA_ASSERT(count >= 0 && writer >= 0 && writer < processes_);
  if (count == 0) return;
  const int64_t begin = items();
  const auto end = base::checked_add(begin, count);
  TESSERA_ASSERT(end.has_value());
  if (!intervals_.empty() && intervals_.back().writer == writer) {
    intervals_.back().end = *end;
  } else {
    intervals_.push_back({begin, *end, writer});
  }
}

std::vector<WriterInterval> Writers::share_of(Process writer) const {
  std::vector<WriterInterval> share;
  std::copy_if(intervals_.begin(), intervals_.end(), std::back_inserter(share),
               [writer](const WriterInterval& interval) { return interval.writer == writer; });
  return share;
}

Process Writers::writer_of(int64_t item) const {
  TESSERA_ASSERT(item >= 0 && item < items());
  const auto place =
      std::partition_point(intervals_.begin(), intervals_.end(),
                           [item](const WriterInterval& interval) { return interval.end <= item; });
  return place->writer;
}

Result<Writers> choose_writers(const Sharing& sharing, const PolicyOptions& options) {
  if (!(options.max_imbalance >= 0)) {
    return fail(Code::kInvalid, "the largest imbalance has to be 0 or more, and is " +
                                    std::to_string(options.max_imbalance));
  }
  switch (options.policy) {
    case Policy::kHome:
      return home_writers(sharing);
    case Policy::kRandom:
      return random_writers(sharing, options.seed);
    case Policy::kFirst:
      return first_writers(sharing);
    case Policy::kIdg:
      return idg_writers(sharing);
    case Policy::kOptimal:
      return optimal_writers(sharing);
    case Policy::kBalanced:
      return balanced_writers(sharing, options.max_imbalance);
  }
  TESSERA_ASSERT(false);
}

}  // namespace tessera::owner
