// The commands that start jobs, word by word.
#include "tessera/cli/launch.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "tessera/cli/hint_variables.hpp"
#include "tessera/cli/launcher_search.hpp"
#include "tessera/cli/search_path.hpp"
#include "tessera/cli/test_folder.hpp"

namespace tessera::cli {
namespace {

LaunchRequest request(Mpi mpi) {
  LaunchRequest request;
  request.mpi = mpi;
  request.launcher = "mpiexec";
  request.ranks = 4;
  request.preload = "/t.so";
  request.variables = {{"TESSERA_ENGINE", "list"}};
  request.forwarded = {"TESSERA_REPORT"};
  request.launcher_args = {"--verbose"};
  request.program = {"./p", "a b"};
  return request;
}

std::string text(const LaunchRequest& request) { return command_text(launch_command(request)); }

TEST(Launch, OpenMpi) {
  LaunchRequest job = request(Mpi::kOpenMpi);
  EXPECT_EQ(text(job),
            "mpiexec -n 4 -x LD_PRELOAD=/t.so -x TESSERA_ENGINE=list -x TESSERA_REPORT --verbose "
            "./p 'a b'");
  job.crowded = true;
  job.as_root = true;
  EXPECT_EQ(text(job),
            "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpiexec -n 4 "
            "--oversubscribe --mca mpi_yield_when_idle 1 -x LD_PRELOAD=/t.so -x "
            "TESSERA_ENGINE=list -x TESSERA_REPORT --verbose ./p 'a b'");
}

TEST(Launch, Mpich) {
  LaunchRequest job = request(Mpi::kMpich);
  job.crowded = true;
  job.as_root = true;
  EXPECT_EQ(text(job),
            "mpiexec -n 4 -genv LD_PRELOAD /t.so -genv TESSERA_ENGINE list --verbose ./p 'a b'");
}

TEST(Launch, Srun) {
  LaunchRequest job = request(Mpi::kOpenMpi);
  job.kind = LauncherKind::kSrun;
  job.launcher = "srun";
  EXPECT_EQ(text(job),
            "srun -n 4 --export=ALL,LD_PRELOAD=/t.so,TESSERA_ENGINE=list --verbose ./p 'a b'");
  job.variables = {{"TESSERA_HINTS", "cb_config_list=a:1,b:2"}};
  EXPECT_EQ(text(job),
            "srun -n 4 --export=ALL --verbose env LD_PRELOAD=/t.so "
            "TESSERA_HINTS=cb_config_list=a:1,b:2 ./p 'a b'");
}

TEST(Launch, PreloadsKeepWhatWasThere) {
  EXPECT_EQ(preload_list("/t.so", ""), "/t.so");
  EXPECT_EQ(preload_list("/t.so", "/a.so:/b.so"), "/t.so:/a.so:/b.so");
  EXPECT_EQ(preload_list("/t.so", "/a.so /t.so"), "/t.so:/a.so");
}

TEST(Launch, WordsAreQuotedForShells) {
  EXPECT_EQ(shell_quoted("a-b/c.d=e:f,g"), "a-b/c.d=e:f,g");
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted("$x;*"), "'$x;*'");
}

TEST(HintVariables, OursAndOthers) {
  const auto variables =
      hint_variables({"tessera_engine=list", "cb_nodes=2", "romio_ds_read=enable", "cb_nodes=3"},
                     "ind_rd_buffer_size=1M");
  ASSERT_TRUE(variables) << variables.error().message();
  const std::vector<Variable> expected = {
      {"TESSERA_ENGINE", "list"},
      {"TESSERA_HINTS", "ind_rd_buffer_size=1M;romio_ds_read=enable;cb_nodes=3"}};
  EXPECT_EQ(*variables, expected);
  EXPECT_TRUE(hint_variables({}, "cb_nodes=2")->empty());
}

TEST(HintVariables, Refusals) {
  const auto refused = [](const std::string& hint, const std::string& cause) {
    const auto variables = hint_variables({hint}, "");
    ASSERT_FALSE(variables) << hint;
    EXPECT_NE(variables.error().message().find(cause), std::string::npos)
        << variables.error().message();
  };
  refused("cb_nodes", "not of the form hint=value");
  refused("speed=high", "no hint is called 'speed'");
  refused("tessera_engine=fast", "tessera_engine");
  refused("cb_nodes=-1", "cb_nodes");
  refused("cb_config_list=*:1;cb_nodes=2", "cb_config_list");
}

TEST(LauncherSearch, TellsLaunchersApart) {
  EXPECT_EQ(mpi_of_version("mpiexec (OpenRTE) 4.1.4\n"), Mpi::kOpenMpi);
  EXPECT_EQ(mpi_of_version("mpirun (Open MPI) 5.0.3\n"), Mpi::kOpenMpi);
  EXPECT_EQ(mpi_of_version("HYDRA build details:\n    Version: 4.0.2\n"), Mpi::kMpich);
  EXPECT_EQ(mpi_of_version("slurm 22.05.8\n"), std::nullopt);
}

TEST(LauncherSearch, TakesTheFirstFolderThatHasOne) {
  const TestFolder folder;
  for (const char* name : {"site", "system"}) std::filesystem::create_directory(folder / name);
  const std::string site = folder.script("site/mpiexec", "#!/bin/sh\necho '(Open MPI) 5'\n");
  const std::string system = folder.script("system/mpiexec.openmpi", "");
  const std::string mpich = folder.script("system/mpiexec.mpich", "");
  const std::string path_list = (folder / "site") + ":" + (folder / "system");
  EXPECT_EQ(*find_mpiexec(Mpi::kOpenMpi, path_list), site);
  EXPECT_EQ(*find_mpiexec(Mpi::kOpenMpi, folder / "system"), system);
  EXPECT_EQ(*find_mpiexec(Mpi::kMpich, path_list), mpich);
  EXPECT_EQ(find_mpiexec(Mpi::kMpich, folder / "site").error().code, base::Code::kNotFound);
  EXPECT_EQ(mpi_of_mpiexec(path_list), Mpi::kOpenMpi);
  EXPECT_EQ(mpi_of_mpiexec(folder / "system"), std::nullopt);
}

TEST(LauncherSearch, LibrariesBesideTheProgram) {
  const TestFolder folder;
  EXPECT_EQ(find_preload(Mpi::kMpich, folder / "bin").error().code, base::Code::kNotFound);
  for (const char* place : {"lib/tessera", "lib64", "lib"}) {
    std::filesystem::create_directories(folder / place);
    const std::string path = folder.script(std::string(place) + "/libtessera-mpiio-mpich.so", "");
    EXPECT_EQ(*find_preload(Mpi::kMpich, folder / "bin"), path);
  }
  EXPECT_FALSE(find_preload(Mpi::kOpenMpi, folder / "bin"));
}

TEST(SearchPath, Programs) {
  const TestFolder folder;
  const std::string program = folder.script("program", "");
  std::ofstream(folder / "data") << "x";
  EXPECT_EQ(*find_program("program", "/none:" + folder.path()), program);
  EXPECT_EQ(*find_program(program, ""), program);
  EXPECT_EQ(find_program("program", "/none").error().code, base::Code::kNotFound);
  EXPECT_EQ(find_program("data", folder.path()).error().code, base::Code::kDenied);
  EXPECT_EQ(find_program("", folder.path()).error().code, base::Code::kNotFound);
  EXPECT_EQ(find_program(folder.path(), "").error().code, base::Code::kNotFound);
}

}  // namespace
}  // namespace tessera::cli
