#include "tessera/daemon/metrics_page.hpp"

#include <array>
#include <cstdio>

#include "tessera/daemon/lock_admin.hpp"
#include "tessera/lock/admin_messages.hpp"

namespace tessera::daemon {

namespace {

constexpr const char* kPrefix = "tessera_lock_";

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g", value);
  return text.data();
}

std::string seconds(int64_t ns) { return number(static_cast<double>(ns) * 1e-9); }

class Page {
 public:
  void counter(const std::string& name, const char* about, uint64_t value) {
    head(name + "_total", about, "counter");
    line(name + "_total", std::to_string(value));
  }
  void gauge(const std::string& name, const char* about, const std::string& value) {
    head(name, about, "gauge");
    line(name, value);
  }
  void gauge(const std::string& name, const char* about, int64_t value) {
    gauge(name, about, std::to_string(value));
  }
  void head(const std::string& name, const char* about, const char* type) {
    text_ += std::string("# HELP ") + kPrefix + name + " " + about + ".\n";
    text_ += std::string("# TYPE ") + kPrefix + name + " " + type + "\n";
  }
  void line(const std::string& name, const std::string& value) {
    text_ += kPrefix + name + " " + value + "\n";
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void add_gauges(Page& page, const lock::ServerFacts& facts) {
  page.gauge("sessions", "Clients that are heard of", facts.sessions);
  page.head("requests", "Locks and requests for them", "gauge");
  page.line("requests{state=\"held\"}", std::to_string(facts.held));
  page.line("requests{state=\"waiting\"}",
            std::to_string(facts.requests - facts.held + facts.early));
  page.gauge("files", "Files with locks or requests", facts.files);
  page.gauge("in_grace", "1 while only locks of before a restart are granted",
             facts.in_grace ? 1 : 0);
  page.gauge("pattern_bytes", "Encoded bytes of the patterns of all requests", facts.pattern_bytes);
  page.gauge("lease_seconds", "Time after which a silent client loses its locks",
             seconds(facts.lease_ns));
  page.gauge("uptime_seconds", "Time since the server was started", seconds(facts.uptime_ns));
}

// Classes of Prometheus hold all that are not above their bound.
void add_waits(Page& page, const lock::WaitHistogram& waits) {
  page.head("wait_seconds", "Time from a request to its grant", "histogram");
  uint64_t so_far = 0;
  for (size_t i = 0; i < waits.counts().size(); ++i) {
    so_far += waits.counts()[i];
    const bool last = i == lock::WaitHistogram::kBoundsNs.size();
    const std::string bound = last ? "+Inf" : seconds(lock::WaitHistogram::kBoundsNs[i]);
    page.line("wait_seconds_bucket{le=\"" + bound + "\"}", std::to_string(so_far));
  }
  page.line("wait_seconds_sum", number(waits.sum_ns() * 1e-9));
  page.line("wait_seconds_count", std::to_string(so_far));
}

}  // namespace

std::string metrics_page(const lock::LockServer& server, int64_t uptime_ns) {
  const lock::ServerFacts facts = facts_of(server, uptime_ns);
  Page page;
  for (const lock::CountName& known : lock::kCountNames) {
    page.counter(known.name, known.about, facts.counts.*known.count);
  }
  add_gauges(page, facts);
  add_waits(page, server.waits());
  return page.take();
}

}  // namespace tessera::daemon
