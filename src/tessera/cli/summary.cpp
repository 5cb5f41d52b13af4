#include "tessera/cli/summary.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace tessera::cli {

double Summary::replication() const {
  if (viewed_bytes() == 0) return 0;
  return static_cast<double>(views_bytes) / static_cast<double>(viewed_bytes());
}

Summary summarise(const object::ObjectSet& objects, const std::vector<object::Family>& families) {
  Summary summary;
  summary.range_bytes = objects.range().length();
  std::map<int64_t, SharingLevel> levels;
  for (const object::Family& family : families) {
    const auto sharers = static_cast<int64_t>(objects.sharers(family.sharers).size());
    const int64_t size_bytes = family.bytes.size();
    const bool shared = sharers > 1;
    summary.objects += family.object_count();
    summary.shared_objects += shared ? family.object_count() : 0;
    (shared ? summary.shared_bytes : summary.private_bytes) += size_bytes;
    summary.views_bytes += size_bytes * sharers;
    SharingLevel& level = levels[sharers];
    level.sharers = sharers;
    level.families += 1;
    level.objects += family.object_count();
    level.size_bytes += size_bytes;
  }
  for (const auto& [sharers, level] : levels) summary.levels.push_back(level);
  return summary;
}

bool is_small(const object::ObjectSet& objects) {
  int64_t count = 0;
  objects.for_each_meeting(objects.range(),
                           [&count](const object::Object&) { return ++count <= kSmallSet; });
  return count <= kSmallSet;
}

Names names_of(const object::ViewsFile& file) {
  Names names;
  for (const object::NamedView& view : file.views) names[view.process] = view.name;
  return names;
}

std::string name_of(const Shown& shown, object::Process process) {
  const auto found = shown.names.find(process);
  return found != shown.names.end() ? found->second : fmt::format("P{}", process);
}

std::string sharers_text(const Shown& shown, object::SharersId id, size_t most) {
  const auto sharers = shown.objects.sharers(id);
  std::string text;
  for (size_t i = 0; i < std::min(sharers.size(), most); ++i) {
    text += (i > 0 ? " " : "") + name_of(shown, sharers[i]);
  }
  if (sharers.size() > most) text += fmt::format(" and {} more", sharers.size() - most);
  return text;
}

}  // namespace tessera::cli
