// Target: the name under which a command makes a new file.
//
// What has the name already is replaced only if that was asked for, and never while somebody
// writes it: the writer's claim (writer_claim.hpp) on it is held until the new file has the name.
// So a job that writes an object file is not left with a file that nobody can find, two commands
// that replace one file are one after another, and whoever opens the old file for writing meanwhile
// learns that it was replaced. A symbolic link stays: the file that it leads to is replaced.
// Thread safety: none.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tessera/base/result.hpp"
#include "tessera/port/disk.hpp"
#include "tessera/port/plain_file.hpp"

namespace tessera::container {

class Target {
 public:
  // Whether a file that is there may be replaced; fails with the reason why not.
  using MayReplace = std::function<base::Result<void>(port::PlainFile& file)>;

  // Fails with kInvalid if there is something else than a regular file, or one and kKeep, and for
  // -, by which a user means standard output and not a file of that name (which is ./-); with
  // kRetry if somebody has it open for writing; with kNotFound for a symbolic link that leads
  // nowhere; and as opening it does. Where the file may only be read, a writer is seen, but others
  // are not kept from writing it later; where the file system has no locks neither is. May_replace
  // looks at every file that is to be replaced, also at one that gets the name later.
  [[nodiscard]] static base::Result<Target> hold(const std::string& path, port::Existing existing,
                                                 MayReplace may_replace = {});

  // Where to make the new file: behind a symbolic link, if the path is one.
  [[nodiscard]] const std::string& path() const { return path_; }

  // Gives a complete file, made for path(), the name. Fails as hold() does for what has the name by
  // now, and as FreshFile::publish() does.
  [[nodiscard]] base::Result<void> publish(port::FreshFile& fresh);
  // For whoever made the new file of the held one. Fails with kRetry unless there is one and the
  // name still leads to it.
  [[nodiscard]] base::Result<void> require_unchanged() const;

  // Of the file that is going to be replaced, if there is one.
  [[nodiscard]] const port::PlainFile* file() const { return file_.get(); }

 private:
  Target(std::string path, port::Existing existing, MayReplace may_replace)
      : path_(std::move(path)), existing_(existing), may_replace_(std::move(may_replace)) {}
  [[nodiscard]] base::Result<void> take();
  [[nodiscard]] bool is_named() const;

  std::string path_;
  port::Existing existing_;
  MayReplace may_replace_;
  std::unique_ptr<port::PlainFile> file_;
};

// The file at `to` may be read and written by whoever may read and write the other one, and belongs
// to the same user where we may give files away.
[[nodiscard]] base::Result<void> copy_permissions(const port::PlainFile& from,
                                                  const std::string& to);

// Whether two names lead to one file, or would: the same path where there is none yet.
[[nodiscard]] bool is_one_file(const std::string& one, const std::string& other);

}  // namespace tessera::container
