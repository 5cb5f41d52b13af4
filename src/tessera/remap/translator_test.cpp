#include "tessera/remap/translator.hpp"

#include "tessera/cache/object_file.hpp"
#include "tessera/port/seeded_random.hpp"
#include "tessera/port/self_team.hpp"
#include "tessera/port/shared_number.hpp"
#include "tessera/port/sim_disk.hpp"
#include "tessera/port/test_seed.hpp"
#include "tessera/remap/remap_test_support.hpp"

namespace tessera::remap {
namespace {

using test::uniform;

constexpr int64_t kSize = 3000;

// A program that writes an object file, and what the file holds at its last commit.
class Producer {
 public:
  explicit Producer(port::File& file) {
    port::SeededRandom random(7);
    cache::ObjectFileOptions options;
    options.write = options.create = true;
    auto opened = cache::ObjectFile::open(file, {team_, &team_, numbers_, true}, random, options);
    EXPECT_TRUE(opened);
    objects_ = *std::move(opened);
  }

  void write(test::Engine& engine) {
    write(engine, test::random_view(engine, kSize).within({0, kSize}));
  }
  void write(test::Engine& engine, const ByteSet& set) {
    std::string bytes = test::random_text(engine, set.size());
    move::Move moved;
    moved.direction = move::Direction::kWrite;
    moved.base = reinterpret_cast<std::byte*>(bytes.data());
    moved.file = set.ascending();
    moved.memory = pattern::Pattern::run({{0}}, set.size()).value();
    ASSERT_TRUE(objects_->write(moved));
    if (set.span().end > std::ssize(text_)) text_.resize(static_cast<size_t>(set.span().end));
    pattern::scatter(reinterpret_cast<std::byte*>(text_.data()), moved.base, set.ascending());
  }
  void set_size(int64_t size) {
    ASSERT_TRUE(objects_->set_size(size));
    text_.resize(static_cast<size_t>(size));
  }
  void commit() {
    ASSERT_TRUE(objects_->commit());
    committed_ = text_;
  }
  [[nodiscard]] const std::string& committed() const { return committed_; }

 private:
  port::SelfTeam team_;
  cache::OwnNumbers numbers_;
  std::unique_ptr<cache::ObjectFile> objects_;
  std::string text_;
  std::string committed_;
};

TranslatorOptions options_for(test::Engine& engine) {
  TranslatorOptions options;
  options.block_bytes = test::kBlock;
  options.threads = static_cast<int>(uniform(engine, 1, 3));
  options.plan.sharing = uniform(engine, 0, 1) == 0 ? Sharing::kOnce : Sharing::kReplicated;
  const std::vector<Consumer> consumers = test::random_consumers(engine, kSize);
  options.consumers = [consumers](int64_t) -> base::Result<std::vector<Consumer>> {
    return consumers;
  };
  return options;
}

void change(test::Engine& engine, Producer& producer) {
  for (int64_t writes = uniform(engine, 0, 3); writes > 0; --writes) producer.write(engine);
  if (uniform(engine, 0, 4) == 0) producer.set_size(uniform(engine, 0, kSize));
}

TEST(Translator, FollowsEveryCommit) {
  const uint64_t seed = port::test_seed();
  test::Engine engine(seed);
  for (int round = 0; round < pattern::model::rounds(40); ++round) {
    SCOPED_TRACE("TESSERA_SEED=" + std::to_string(seed) + " round " + std::to_string(round));
    port::SimDisk disk;
    const auto in = disk.create("/in").value();
    Producer producer(*in);
    const auto seen = disk.open("/in", port::Access::kRead).value();
    const auto out = disk.create("/out").value();
    port::SeededRandom random(3);
    const auto translator = Translator::start(*seen, *out, random, options_for(engine));
    ASSERT_TRUE(translator) << translator.error().message();
    for (int commits = 0; commits < 12; ++commits) {
      change(engine, producer);
      // What is not committed is not seen; what was committed before a step may be several states.
      if (uniform(engine, 0, 2) > 0) producer.commit();
      const auto stepped = (*translator)->step();
      ASSERT_TRUE(stepped) << stepped.error().message();
      test::expect_bytes(*out, producer.committed(), true);  // (T1)
      EXPECT_EQ((*translator)->step().value(), false);
      if (HasFailure()) return;
    }
  }
}

// (T2)
TEST(Translator, MovesOnlyWhatIsNew) {
  test::Engine engine(5);
  port::SimDisk disk;
  const auto in = disk.create("/in").value();
  Producer producer(*in);
  const auto seen = disk.open("/in", port::Access::kRead).value();
  const auto out = disk.create("/out").value();
  port::SeededRandom random(3);
  TranslatorOptions options = options_for(engine);
  options.plan.sharing = Sharing::kOnce;
  const auto translator = Translator::start(*seen, *out, random, options).value();
  producer.set_size(kSize);
  producer.commit();
  ASSERT_TRUE(translator->step());
  EXPECT_EQ(translator->counts().stored_bytes, 0);  // nothing but a size
  int64_t stored = 0;
  for (int i = 0; i < 20; ++i) {
    const std::string before = producer.committed();
    producer.write(engine);
    producer.commit();
    ASSERT_TRUE(translator->step());
    const int64_t now = translator->counts().stored_bytes;
    int64_t different = 0;
    for (size_t at = 0; at < before.size(); ++at) {
      different += before[at] != producer.committed()[at] ? 1 : 0;
    }
    EXPECT_GE(now - stored, different);
    EXPECT_LE(now - stored, std::max<int64_t>(2 * different, 200));
    stored = now;
  }
}

// (T3)
TEST(Translator, AFailedStepCanBeTriedAgain) {
  const uint64_t seed = port::test_seed();
  test::Engine engine(seed);
  int failures = 0;
  for (uint64_t nth = 1; nth < 60; ++nth) {
    SCOPED_TRACE("TESSERA_SEED=" + std::to_string(seed) + " operation " + std::to_string(nth));
    port::SimDisk disk;
    const auto in = disk.create("/in").value();
    Producer producer(*in);
    const auto seen = disk.open("/in", port::Access::kRead).value();
    const auto out = disk.create("/out").value();
    port::SeededRandom random(3);
    const auto translator = Translator::start(*seen, *out, random, options_for(engine)).value();
    for (int i = 0; i < 3; ++i) producer.write(engine);
    producer.commit();
    ASSERT_TRUE(translator->step());
    const std::string before = producer.committed();
    for (int i = 0; i < 3; ++i) producer.write(engine);
    producer.commit();
    const uint64_t operations = disk.operation_count();
    disk.fail_operation(nth, nth % 2 == 0 ? EIO : ENOSPC);
    const auto stepped = translator->step();
    if (disk.operation_count() - operations < nth) break;
    failures += stepped ? 0 : 1;
    test::expect_bytes(*out, stepped ? producer.committed() : before, true);
    const auto again = translator->step();
    ASSERT_TRUE(again) << again.error().message();
    test::expect_bytes(*out, producer.committed(), true);
    if (HasFailure()) return;
  }
  EXPECT_GT(failures, 5);
}

// A producer that commits and writes over what it freed, while the step still reads.
TEST(Translator, BeginsAnewWhenTheProducerIsFaster) {
  test::Engine engine(11);
  port::SimDisk disk;
  const auto in = disk.create("/in").value();
  Producer producer(*in);
  const ByteSet all = ByteSet::of({0, kSize}).value();
  producer.write(engine, all);
  producer.commit();
  const auto freed = container::Container::open(*in)->read_contents().value().allocations;
  const auto seen = disk.open("/in", port::Access::kRead).value();
  const auto out = disk.create("/out").value();
  port::SeededRandom random(3);
  TranslatorOptions options = options_for(engine);
  int calls = 0;
  options.consumers = [&, consumers = options.consumers](int64_t size) {
    // Between reading the contents and reading the bytes.
    if (++calls == 1) {
      producer.write(engine, all);
      producer.commit();
      const base::Bytes junk(static_cast<size_t>(freed.front().place.length()), std::byte{'!'});
      EXPECT_TRUE(in->write_at(freed.front().place.begin, junk));
    }
    return consumers(size);
  };
  const auto translator = Translator::start(*seen, *out, random, options).value();
  const auto stepped = translator->step();
  ASSERT_TRUE(stepped) << stepped.error().message();
  EXPECT_EQ(calls, 2);
  test::expect_bytes(*out, producer.committed(), true);
  EXPECT_FALSE(translator->step().value());
}

TEST(Translator, DamageIsAnError) {
  test::Engine engine(12);
  port::SimDisk disk;
  const auto in = disk.create("/in").value();
  Producer producer(*in);
  while (producer.committed().empty()) {
    producer.write(engine);
    producer.commit();
  }
  const auto contents = container::Container::open(*in)->read_contents().value();
  const base::Bytes junk(20, std::byte{'!'});
  ASSERT_TRUE(in->write_at(contents.allocations.back().place.begin, junk));
  const auto out = disk.create("/out").value();
  port::SeededRandom random(3);
  const auto translator = Translator::start(*in, *out, random, options_for(engine)).value();
  const auto stepped = translator->step();
  ASSERT_FALSE(stepped);
  EXPECT_EQ(stepped.error().code, base::Code::kIntegrity) << stepped.error().message();
  test::expect_bytes(*out, "", true);
}

}  // namespace
}  // namespace tessera::remap
