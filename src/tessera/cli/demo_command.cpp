#include "tessera/cli/demo_command.hpp"

#include <fmt/core.h>

#include "tessera/cli/demo_model.hpp"
#include "tessera/cli/demo_page.hpp"
#include "tessera/cli/demo_text.hpp"
#include "tessera/cli/files.hpp"

namespace tessera::cli {

ExitCode run_demo(const DemoOptions& options) {
  if (const auto good = check_output(options.html_path, OutputKind::kPage); !good) {
    return report(good.error(), options.json);
  }
  auto demo = build_demo();
  if (!demo) return report(demo.error(), options.json);
  auto runs = run_walls();
  if (!runs) return report(runs.error(), options.json);
  demo->runs = *std::move(runs);
  if (const auto written = write_whole(options.html_path, demo_page(*demo), OutputKind::kPage);
      !written) {
    return report(written.error(), options.json);
  }
  if (options.json) {
    fmt::print("{}", demo_json(*demo, options.html_path));
  } else {
    fmt::print("{}\nThe same with pictures: {}\n", demo_text(*demo), options.html_path);
  }
  return ExitCode::kOk;
}

}  // namespace tessera::cli
