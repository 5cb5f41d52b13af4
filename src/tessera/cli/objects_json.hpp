// Object sets as JSON: for programs. docs/formats/views.md describes the members.
//
// Thread safety: pure functions.
#pragma once

#include "tessera/base/json_writer.hpp"
#include "tessera/cli/summary.hpp"

namespace tessera::cli {

// A whole set as one JSON object. Objects are listed for a small set only; families always.
void write_objects(base::JsonWriter& writer, const Shown& shown);

// The objects that meet an interval, at most kMeetingMax of them.
void write_meeting(base::JsonWriter& writer, const Shown& shown, pattern::Interval at);

// [begin, end]
void write_interval(base::JsonWriter& writer, pattern::Interval interval);

// [0, 1]
void write_sharers(base::JsonWriter& writer, const object::ObjectSet& objects,
                   object::SharersId sharers);

}  // namespace tessera::cli
