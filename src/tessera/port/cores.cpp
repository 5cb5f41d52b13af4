#include "tessera/port/cores.hpp"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

namespace tessera::port {

int64_t cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  std::set<std::string> found;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &set)) continue;
    const std::string name = "cpu" + std::to_string(cpu);
    std::ifstream file("/sys/devices/system/cpu/" + name + "/topology/thread_siblings_list");
    std::string siblings;
    if (!std::getline(file, siblings)) siblings = name;
    found.insert(siblings);
  }
  return std::max<int64_t>(1, std::ssize(found));
}

}  // namespace tessera::port
