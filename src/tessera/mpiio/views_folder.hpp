// The folder of TESSERA_RECORD_VIEWS: one views file for each file that a job used.
//
// Files of one base name get names with numbers. A text says by its begin which file it is about,
// so the record of a file replaces an older one of the same file, also of an earlier job, and no
// other.
//   (R1) A name leads to a whole text at every instant.
//   (R2) Of processes that record different files of one base name at once, each gets a name of its
//        own (where the file system can rename without replacing).
// Thread safety: calls are independent of each other.
#pragma once

#include <string>
#include <string_view>

#include "tessera/base/result.hpp"

namespace tessera::mpiio {

// A text to be put into a folder as BASE.views.json, BASE.2.views.json and so on.
struct RecordedText {
  std::string base;   // of the name
  std::string begin;  // of every text about the same file
  std::string text;   // begins so
};

// Makes the folder if it is not there. Answers the path of the text; on failure, which is the
// system's, nothing is left behind.
[[nodiscard]] base::Result<std::string> put_text(const std::string& folder,
                                                 const RecordedText& recorded);

}  // namespace tessera::mpiio
