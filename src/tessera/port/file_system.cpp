#include "tessera/port/file_system.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include "tessera/port/system_call.hpp"

namespace tessera::port {

namespace {

std::string hex_text(uint64_t number) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  return {digits.data(), end};
}

base::Result<dev_t> device_of(int descriptor) {
  struct stat status {};
  TESSERA_TRY_VOID(check(::fstat(descriptor, &status), "get the device of a file"));
  return status.st_dev;
}

bool is_octal(char c) { return c >= '0' && c <= '7'; }

// Blanks and backslashes stand as \040 in names.
std::string unescaped(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) &&
                        is_octal(text[i + 2]) && is_octal(text[i + 3]);
    if (!escape) {
      plain += text[i];
      continue;
    }
    plain +=
        static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + text[i + 3] - '0');
    i += 3;
  }
  return plain;
}

// A line is "ID PARENT DEVICE ROOT POINT OPTIONS [TAG...] - TYPE SOURCE OPTIONS".
std::optional<Mount> mount_in(const std::string& line, const std::string& device) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  constexpr size_t kDevice = 2;
  constexpr size_t kPoint = 4;
  if (words.size() <= kPoint || words[kDevice] != device) return std::nullopt;
  for (size_t i = kPoint; i + 2 < words.size(); ++i) {
    if (words[i] != "-") continue;
    return Mount{unescaped(words[kPoint]), words[i + 1], unescaped(words[i + 2])};
  }
  return std::nullopt;
}

}  // namespace

base::Result<std::string> file_system_id(int descriptor) {
  struct statfs system {};
  TESSERA_TRY_VOID(check(uninterrupted([&] { return ::fstatfs(descriptor, &system); }),
                         "get the file system of a file"));
  const std::string type = hex_text(static_cast<uint64_t>(system.f_type) & 0xffffffffU);
  const auto number = std::bit_cast<uint64_t>(system.f_fsid);
  if (number != 0) return type + "-" + hex_text(number);
  TESSERA_TRY(const dev_t device, device_of(descriptor));
  return type + "-device-" + hex_text(uint64_t{device});
}

base::Result<Mount> find_mount(const std::string& mountinfo, const std::string& device) {
  std::optional<Mount> found;
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {
    if (auto mount = mount_in(line, device)) found = std::move(mount);
  }
  if (found) return *std::move(found);
  return base::fail(base::Code::kNotFound, "there is no mount of device " + device);
}

base::Result<Mount> mount_of(int descriptor) {
  TESSERA_TRY(const dev_t device, device_of(descriptor));
  std::ifstream stream("/proc/self/mountinfo");
  std::ostringstream text;
  text << stream.rdbuf();
  return find_mount(text.str(), std::to_string(gnu_dev_major(device)) + ":" +
                                    std::to_string(gnu_dev_minor(device)));
}

}  // namespace tessera::port
