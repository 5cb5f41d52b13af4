#include "tessera/mpiio/recent_types.hpp"

#include <algorithm>
#include <utility>

namespace tessera::mpiio {

namespace {

constexpr size_t kEntries = 8;
// Shorter lists are converted as quickly as they are compared; longer ones take a megabyte.
constexpr size_t kArgumentsMin = 32;
constexpr size_t kArgumentsMax = size_t{1} << 17;

bool is_worth_keeping(const TypeContents& contents) {
  const size_t length = contents.arguments().size();
  return length >= kArgumentsMin && length <= kArgumentsMax;
}

}  // namespace

RecentTypes::TypePtr RecentTypes::find(const TypeContents& contents,
                                       std::span<const TypePtr> children,
                                       Representation representation) {
  if (!is_worth_keeping(contents)) return nullptr;
  return entries_.with([&](std::vector<Entry>& entries) -> TypePtr {
    const auto place = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) {
      return entry.constructor == contents.constructor() &&
             entry.representation == representation &&
             std::ranges::equal(entry.children, children) &&
             std::ranges::equal(entry.arguments, contents.arguments());
    });
    if (place == entries.end()) return nullptr;
    std::rotate(entries.begin(), place, place + 1);
    return entries.front().type;
  });
}

void RecentTypes::keep(const TypeContents& contents, std::span<const TypePtr> children,
                       Representation representation, TypePtr type) {
  if (!is_worth_keeping(contents)) return;
  const auto arguments = contents.arguments();
  Entry entry = {contents.constructor(),
                 representation,
                 {arguments.begin(), arguments.end()},
                 {children.begin(), children.end()},
                 std::move(type)};
  entries_.with([&](std::vector<Entry>& entries) {
    if (entries.size() == kEntries) entries.pop_back();
    entries.insert(entries.begin(), std::move(entry));
  });
}

void RecentTypes::clear() {
  entries_.with([](std::vector<Entry>& entries) { entries.clear(); });
}

}  // namespace tessera::mpiio
