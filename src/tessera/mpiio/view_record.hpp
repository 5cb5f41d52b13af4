// What the ranks of a file see of it, for TESSERA_RECORD_VIEWS.
//
// If the variable names a folder, each rank of an open file keeps the last view with gaps that it
// set, and closing the file leaves the bytes of all ranks there as a views file
// (docs/formats/views.md), which lays out this file or another one for such a job. Views that show
// all bytes, from wherever they begin, say nothing of what a rank needs: a rank that had no others
// is recorded with the interval from the first byte that it accessed to the last.
// Thread safety: note_access() from any thread; the rest as OpenFile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tessera/base/result.hpp"
#include "tessera/mpiio/overlapping_view.hpp"
#include "tessera/pattern/byte_set.hpp"
#include "tessera/pattern/view.hpp"
#include "tessera/port/exchange.hpp"
#include "tessera/port/guarded.hpp"

namespace tessera::mpiio {

struct FileView;

class ViewRecord {
 public:
  // Whether the variable is set, when the program first asks.
  [[nodiscard]] static bool wanted();

  // Of the file at a path.
  explicit ViewRecord(const std::string& path);

  void set_view(const FileView& view);
  // The file's bytes of an access, where they begin and end.
  void note_access(pattern::Interval bytes);

  // Collective, with the size of the file as each rank knows it: the first rank writes the views
  // file. Nothing is written for a file without bytes or if nobody saw any. What goes wrong is told
  // on standard error, once in a process, and to nobody else.
  void write(port::Exchange& exchange, int64_t size);

 private:
  [[nodiscard]] base::Result<pattern::ByteSet> bytes_below(int64_t size);

  const std::string path_;  // absolute
  // The last view with gaps; neither if there was none.
  std::optional<pattern::View> ascending_;
  std::optional<OverlappingView> overlapping_;
  std::optional<int64_t> limit_;  // see FileView
  port::Guarded<pattern::Interval> accessed_;
};

}  // namespace tessera::mpiio
