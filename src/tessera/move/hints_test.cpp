#include "tessera/move/hints.hpp"

#include <gtest/gtest.h>

#include <map>

namespace tessera::move {
namespace {

using Variables = std::map<std::string, std::string>;

base::GetEnvironment environment_of(const Variables& variables) {
  return [variables](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

std::string effective(const Hints& hints, std::string_view name) {
  for (const auto& [key, value] : hints.effective()) {
    if (key == name) return value;
  }
  return "(left out)";
}

TEST(Hints, DefaultsAreRomios) {
  const Hints hints;
  EXPECT_EQ(hints.cb_buffer_size, 16 << 20);
  EXPECT_EQ(hints.cb_nodes, 0);
  EXPECT_EQ(hints.cb_per_node, 1);
  EXPECT_EQ(hints.ind_rd_buffer_size, 4 << 20);
  EXPECT_EQ(hints.ind_wr_buffer_size, 512 << 10);
  EXPECT_EQ(hints.cb_write, Toggle::kAutomatic);
  EXPECT_EQ(hints.ds_write, Toggle::kAutomatic);
  EXPECT_FALSE(hints.no_indep_rw);
  EXPECT_FALSE(hints.durable_close);
  EXPECT_EQ(hints.engine, EngineHint::kAutomatic);
  EXPECT_EQ(hints.collective, CollectiveHint::kAutomatic);
  EXPECT_EQ(hints.uring, Toggle::kAutomatic);
  EXPECT_EQ(hints.lock, LockHint::kList);
  EXPECT_FALSE(hints.lock_reads_alone);
  EXPECT_TRUE(hints.lock_private);
  EXPECT_TRUE(hints.ignored().empty());
}

TEST(Hints, EffectiveSizesArePlainNumbers) {
  const Hints hints = Hints::parse({"", {}, {{"ind_rd_buffer_size", "2M"}}}).value();
  EXPECT_EQ(effective(hints, "cb_buffer_size"), "16777216");
  EXPECT_EQ(effective(hints, "ind_rd_buffer_size"), "2097152");
  EXPECT_EQ(effective(hints, "ind_wr_buffer_size"), "524288");
  EXPECT_EQ(effective(hints, "cb_config_list"), "*:1");
  EXPECT_EQ(effective(hints, "romio_no_indep_rw"), "false");
}

TEST(Hints, WhatSaysNothingIsLeftOutUntilShown) {
  Hints hints;
  EXPECT_EQ(effective(hints, "cb_nodes"), "(left out)");
  EXPECT_EQ(effective(hints, "striping_unit"), "(left out)");
  // An MPI may refuse to take a text without a character.
  EXPECT_EQ(effective(hints, "tessera_consumer_views"), "(left out)");
  hints.show("cb_nodes", "3");
  EXPECT_EQ(effective(hints, "cb_nodes"), "3");
  EXPECT_EQ(hints.effective()[1].first, "cb_nodes");
  hints.show("cb_nodes", "4");
  EXPECT_EQ(effective(hints, "cb_nodes"), "4");
  const size_t shown = hints.effective().size();
  hints.show("tessera_uring", "off");
  EXPECT_EQ(effective(hints, "tessera_uring"), "off");
  EXPECT_EQ(hints.effective().size(), shown);
}

TEST(Hints, StrongerSourcesWin) {
  HintSources sources;
  sources.romio_file_text =
      "# site\n\ncb_nodes 2\nromio_cb_write\tENABLE\ncb_nodes 3\nromio_cb_read enable\n";
  sources.environment = environment_of(
      {{"TESSERA_HINTS", "cb_buffer_size=2M; romio_ds_write = Disable ;tessera_engine=sieve"},
       {"TESSERA_ENGINE", "direct"},
       {"TESSERA_DURABLE", "close"}});
  sources.info = {{"romio_ds_write", "enable"},        {"tessera_uring", "off"},
                  {"romio_cb_read", "disable"},        {"tessera_lock", "file"},
                  {"tessera_lock_reads", "exclusive"}, {"tessera_lock_private", "disable"}};
  const Hints hints = Hints::parse(sources).value();
  EXPECT_EQ(hints.cb_nodes, 2);
  EXPECT_EQ(hints.cb_write, Toggle::kEnable);
  EXPECT_EQ(hints.cb_read, Toggle::kEnable);
  EXPECT_EQ(effective(hints, "romio_cb_write"), "enable");
  EXPECT_EQ(hints.cb_buffer_size, 2 << 20);
  EXPECT_EQ(hints.ds_write, Toggle::kEnable);
  EXPECT_EQ(hints.engine, EngineHint::kDirect);
  EXPECT_TRUE(hints.durable_close);
  EXPECT_EQ(hints.uring, Toggle::kDisable);
  EXPECT_EQ(hints.lock, LockHint::kFile);
  EXPECT_TRUE(hints.lock_reads_alone);
  EXPECT_FALSE(hints.lock_private);
  EXPECT_EQ(hints.without_gaps().ds_write, Toggle::kDisable);
  EXPECT_TRUE(hints.ignored().empty());
}

TEST(Hints, InfoThatMakesNoSenseIsIgnoredAndTold) {
  HintSources sources;
  sources.romio_file_text = "panfs_layout 3\ncb_nodes many\n";
  sources.info = {{"access_style", "write_once"}, {"cb_buffer_size", "-1"}, {"cb_nodes", "7"}};
  const Hints hints = Hints::parse(sources).value();
  EXPECT_EQ(hints.cb_nodes, 7);
  EXPECT_EQ(hints.cb_buffer_size, 16 << 20);
  ASSERT_EQ(hints.ignored().size(), 4U);
  EXPECT_EQ(hints.ignored()[1].find("cb_buffer_size=-1: "), 0U);
  EXPECT_EQ(hints.ignored()[2], "panfs_layout=3: unknown hint \"panfs_layout\"");
  EXPECT_NE(hints.ignored()[3].find("allowed is an integer"), std::string::npos);
}

TEST(Hints, OurVariablesMustMakeSense) {
  const auto error_with = [](const Variables& variables) {
    const auto hints = Hints::parse({"", environment_of(variables), {}});
    if (hints) return std::string("parsed");
    EXPECT_EQ(hints.error().code, base::Code::kInvalid);
    return hints.error().context;
  };
  EXPECT_EQ(error_with({{"TESSERA_ENGINE", "fast"}}),
            "environment variable TESSERA_ENGINE: key \"tessera_engine\" has the value \"fast\"; "
            "allowed is automatic, direct, list, sieve or mapped");
  EXPECT_EQ(error_with({{"TESSERA_HINTS", "cb_nodse=1"}}),
            "environment variable TESSERA_HINTS: unknown hint \"cb_nodse\"");
  EXPECT_EQ(error_with({{"TESSERA_HINTS", "cb_nodes"}}),
            "environment variable TESSERA_HINTS: \"cb_nodes\" is not key=value");
  EXPECT_EQ(
      error_with({{"TESSERA_KINDS", "*.nc=obj;*.h5=hdf"}}),
      "environment variable TESSERA_KINDS: the rule \"*.h5=hdf\" names an unknown kind; rules "
      "are such as *.nc=obj;*.txt=plain");
  EXPECT_EQ(error_with({{"TESSERA_HINTS", ""}, {"TESSERA_CB_NODES", "x"}}), "parsed");
}

TEST(Hints, RulesOfKindsComeFromEverySource) {
  const auto is_object = [](const HintSources& sources) {
    return Hints::parse(sources).value().kinds.kind_of("data.nc") == container::FileKind::kObject;
  };
  EXPECT_FALSE(is_object({}));
  EXPECT_TRUE(is_object({"", environment_of({{"TESSERA_KINDS", "*.nc=obj;*.h5=obj"}}), {}}));
  EXPECT_TRUE(
      is_object({"", environment_of({{"TESSERA_HINTS", "tessera_kinds=*.h5=obj,*.nc=obj"}}), {}}));
  EXPECT_TRUE(is_object({"", {}, {{"tessera_kinds", "*.nc=obj"}}}));
  EXPECT_TRUE(is_object({"tessera_kinds *.h5=obj;*.nc=obj\n", {}, {}}));
  EXPECT_FALSE(is_object({"tessera_kinds *.nc=plain\n", {}, {{"tessera_kinds", "*.nc=obj"}}}));
}

TEST(Hints, ConfigurationListsLimitAggregatorsPerNode) {
  const auto per_node = [](const std::string& list) {
    return Hints::parse({"", {}, {{"cb_config_list", list}}}).value().cb_per_node;
  };
  EXPECT_EQ(per_node("*:1"), 1);
  EXPECT_EQ(per_node("*:*"), 0);
  EXPECT_EQ(per_node("a:2, b:5,c"), 5);
  EXPECT_EQ(per_node("a:2,b:*"), 0);
  EXPECT_EQ(per_node("a"), 1);
  for (const char* wrong : {"", ":3", "a:x", "a:2,,b:1", "a:-1"}) {
    EXPECT_FALSE(check_hint("cb_config_list", wrong)) << wrong;
  }
}

TEST(Hints, WhatDecidesMeetingsIsTakenOver) {
  const auto hints = [](const std::vector<base::KeyValue>& info) {
    return Hints::parse({"", {}, info}).value();
  };
  const Hints first = hints({{"tessera_replicated", "TRUE"},
                             {"tessera_cache", "on"},
                             {"tessera_consumer_views", "/a b"},
                             {"tessera_engine", "list"}});
  Hints other = hints({{"tessera_layout", "object"}, {"tessera_engine", "mapped"}});
  ASSERT_TRUE(other.take_common(first.common()));
  EXPECT_TRUE(other.replicated);
  EXPECT_TRUE(other.cache);
  EXPECT_FALSE(other.object_layout);
  EXPECT_EQ(other.consumer_views, "/a b");
  EXPECT_EQ(other.engine, EngineHint::kMapped) << "the rest is a rank's own";
  EXPECT_EQ(other.common(), first.common());
  const base::Bytes told = first.common();
  EXPECT_FALSE(other.take_common(base::ByteView(told).first(told.size() - 1)));
}

TEST(Hints, EveryHintChecksItsValues) {
  for (const base::Option& option : hint_table()) {
    EXPECT_TRUE(is_hint(option.name));
    EXPECT_TRUE(check_hint(option.name, option.default_text)) << option.name;
    // Any text may be the name of a file, but for its length.
    const bool is_name = option.name == "tessera_consumer_views";
    EXPECT_FALSE(check_hint(option.name, is_name ? std::string(5000, 'x') : "::")) << option.name;
  }
  EXPECT_FALSE(is_hint("tessera"));
  EXPECT_TRUE(check_hint("romio_ds_read", "DISABLE"));
}

TEST(Hints, TheDocumentListsEveryHint) {
  const std::string text = hints_markdown();
  for (const base::Option& option : hint_table()) {
    EXPECT_NE(text.find("| `" + std::string(option.name) + "` |"), std::string::npos);
  }
}

}  // namespace
}  // namespace tessera::move
