#include "tessera/container/file_kind.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <array>

#include "tessera/container/superblock.hpp"

namespace tessera::container {
namespace {

using base::Code;
using base::Result;

// Prefixes by which programs ask for a file system of their MPI, and those of file kinds to come.
constexpr std::array<std::string_view, 13> kForeignPrefixes = {
    "ufs",   "nfs",     "lustre", "panfs", "gpfs",  "testfs", "daos",
    "gfarm", "quobyte", "xfs",    "piofs", "pvfs2", "ln"};

constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kSeparators = ";,\n";

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  while (!text.empty() && kBlanks.find(text.back()) != text.npos) text.remove_suffix(1);
  return text;
}

base::Failure bad_rule(std::string_view rule, const std::string& how) {
  return base::fail(Code::kInvalid, "the rule \"" + std::string(rule) + "\" " + how +
                                        "; rules are such as *.nc=obj;*.txt=plain");
}

Result<base::Bytes> read_header(port::File& file) {
  base::Bytes header(static_cast<size_t>(kHeaderBytes));
  const port::Transfer read = file.read_at(0, header);
  if (!read) return base::failure_of(read.status);
  header.resize(static_cast<size_t>(read.bytes));
  return header;
}

bool any_superblock(base::ByteView header) {
  for (size_t at = 0; at < header.size(); at += static_cast<size_t>(kSuperblockBytes)) {
    if (decode_superblock(header.subspan(at)).state != CopyState::kForeign) return true;
  }
  return false;
}

}  // namespace

FileName parse_file_name(const std::string& given) {
  const size_t colon = given.find(':');
  if (colon == given.npos) return {given};
  const std::string_view prefix = std::string_view(given).substr(0, colon);
  if (prefix == "obj") return {given.substr(colon + 1), true};
  const bool foreign =
      std::find(kForeignPrefixes.begin(), kForeignPrefixes.end(), prefix) != kForeignPrefixes.end();
  return {given, false, foreign};
}

bool glob_matches(const std::string& glob, const std::string& path) {
  if (fnmatch(glob.c_str(), path.c_str(), 0) == 0) return true;
  if (glob.find('/') != glob.npos) return false;
  const std::string name = path.substr(path.rfind('/') + 1);
  return fnmatch(glob.c_str(), name.c_str(), 0) == 0;
}

Result<KindRules> KindRules::parse(std::string_view text) {
  KindRules rules;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(kSeparators), text.size());
    const std::string_view rule = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (rule.empty()) continue;
    const size_t equals = rule.rfind('=');
    if (equals == rule.npos) return bad_rule(rule, "names no kind");
    const std::string_view glob = trimmed(rule.substr(0, equals));
    const std::string_view kind = trimmed(rule.substr(equals + 1));
    if (glob.empty()) return bad_rule(rule, "names no files");
    if (kind != "obj" && kind != "plain") return bad_rule(rule, "names an unknown kind");
    rules.rules_.push_back(
        {std::string(glob), kind == "obj" ? FileKind::kObject : FileKind::kPlain});
  }
  return rules;
}

std::optional<FileKind> KindRules::kind_of(const std::string& path) const {
  for (const Rule& rule : rules_) {
    if (glob_matches(rule.glob, path)) return rule.kind;
  }
  return std::nullopt;
}

Result<bool> has_superblock(port::File& file) {
  TESSERA_TRY(const base::Bytes header, read_header(file));
  return any_superblock(header);
}

Result<FileKind> kind_of(port::File& file) {
  TESSERA_TRY(const base::Bytes header, read_header(file));
  if (!any_superblock(header)) return FileKind::kPlain;
  const auto chosen = choose_superblock(header, file.path());
  return chosen ? Result<FileKind>(FileKind::kObject) : base::failure_of(chosen);
}

}  // namespace tessera::container
