#include "tessera/cli/program_mpi.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "tessera/cli/child_output.hpp"
#include "tessera/cli/elf_needs.hpp"
#include "tessera/cli/search_path.hpp"

namespace tessera::cli {

using base::Code;
using base::Result;

namespace {

using Answer = Result<ProgramMpi>;

constexpr int kScriptsMax = 4;
constexpr size_t kScriptLineMax = 4096;

// Finds mpi4py's library without importing anything but Python's own: the folder that the program
// would look in first, the argument, comes in only then.
constexpr const char* kWhereIsMpi4py = R"(
import sys
sys.path = [folder for folder in sys.path if folder]
import importlib.util, os
sys.path = sys.argv[1:] + sys.path
spec = importlib.util.find_spec("mpi4py")
for folder in (spec.submodule_search_locations or []) if spec else []:
    for name in sorted(os.listdir(folder)):
        if name.startswith("MPI.") and name.endswith(".so"):
            print(os.path.join(folder, name))
)";

std::vector<std::string> words_of(std::string_view line, std::string_view blanks) {
  std::vector<std::string> words;
  while (!line.empty()) {
    const size_t begin = std::min(line.find_first_not_of(blanks), line.size());
    line.remove_prefix(begin);
    const size_t end = std::min(line.find_first_of(blanks), line.size());
    if (end > 0) words.emplace_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

std::string_view last_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Also a script of that name, as those that choose between several Pythons are.
bool is_python(std::string_view path) { return last_name(path).starts_with("python"); }

std::string beginning_of(const std::string& path) {
  std::string text(kScriptLineMax, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

ProgramMpi none(std::string why) { return {{}, std::move(why)}; }
ProgramMpi refused(std::string why) { return {{}, std::move(why), true}; }

// `named` is the program that the file runs, for messages.
Answer mpi_among(const std::string& path, const std::string& named, const Surroundings& around) {
  TESSERA_TRY(const auto libraries, libraries_of(path, around.libraries));
  std::optional<Mpi> found;
  for (const std::string& library : libraries) {
    const auto mpi = mpi_of_library(library);
    if (mpi && found && *mpi != *found) return refused(named + " links Open MPI and MPICH");
    if (mpi) found = mpi;
  }
  return found ? ProgramMpi{found} : none(named + " links no MPI");
}

// Where Python looks first: the folder of the script, behind links, or the working directory; empty
// if no script is named.
std::string first_folder(const std::vector<std::string>& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "-c" || word == "-m") return ".";
    if (word == "-W" || word == "-X") {
      ++i;
    } else if (!word.starts_with('-')) {
      std::error_code error;
      const auto script = std::filesystem::weakly_canonical(word, error);
      return error ? "" : script.parent_path().string();
    }
  }
  return "";
}

Answer mpi_of_python(const std::string& python, const std::string& folder,
                     const Surroundings& around) {
  std::vector<std::string> question = {python, "-c", kWhereIsMpi4py};
  if (!folder.empty()) question.push_back(folder);
  const auto output = output_of(question);
  if (!output) return none(python + " does not say where its mpi4py is");
  if (output->empty()) {
    return refused(python + " has no mpi4py (install it, or name another Python)");
  }
  std::optional<Mpi> found;
  for (const std::string& library : words_of(*output, "\n")) {
    const auto among = mpi_among(library, library, around);
    const auto mpi = among ? among->mpi : std::nullopt;
    if (!mpi || (found && *found != *mpi)) {
      return none("the mpi4py of " + python + " does not link one MPI");
    }
    found = mpi;
  }
  return ProgramMpi{found};
}

Answer mpi_of_binary(const std::string& path, const std::string& named,
                     const Surroundings& around) {
  TESSERA_TRY(const ElfNeeds needs, elf_needs_of(path));
  if (!needs.interpreted) {
    return base::fail(
        Code::kInvalid,
        fmt::format("{} is linked statically; nothing can be preloaded into it", path));
  }
  return mpi_among(path, named, around);
}

// Follows scripts to the program that runs them.
Answer mpi_by_linkage(const std::string& path, const Surroundings& around) {
  std::string file = path;
  for (int i = 0; i < kScriptsMax; ++i) {
    const std::string text = beginning_of(file);
    if (text.starts_with("\x7f"
                         "ELF"))
      return mpi_of_binary(file, path, around);
    const std::string interpreter = interpreter_of(text);
    if (interpreter.empty()) break;
    const auto found = find_program(interpreter, around.path_list);
    if (!found) {
      return base::fail(found.error().code, fmt::format("{} is a script that cannot be run: {}",
                                                        file, found.error().message()));
    }
    if (is_python(*found)) return mpi_of_python(*found, first_folder({file}), around);
    file = *found;
  }
  return none(path + " links no MPI");
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Surroundings surroundings() {
  return {environment("PATH"), library_places(environment("LD_LIBRARY_PATH"))};
}

std::string interpreter_of(std::string_view text) {
  if (!text.starts_with("#!")) return "";
  text.remove_prefix(2);
  const auto words = words_of(text.substr(0, text.find('\n')), " \t\r");
  if (words.empty()) return "";
  if (last_name(words.front()) != "env") return words.front();
  const auto named = std::find_if(words.begin() + 1, words.end(), [](const std::string& word) {
    return !word.starts_with('-') && word.find('=') == word.npos;
  });
  return named == words.end() ? words.front() : *named;
}

Answer mpi_of_program(const std::string& path, const Surroundings& around,
                      const std::vector<std::string>& arguments) {
  TESSERA_TRY(const ProgramMpi linked, mpi_by_linkage(path, around));
  if (!linked.mpi && is_python(path)) return mpi_of_python(path, first_folder(arguments), around);
  return linked;
}

}  // namespace tessera::cli
