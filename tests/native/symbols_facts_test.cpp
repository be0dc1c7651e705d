// Facts about files that are kept for the next time.
#include <doctest/doctest.h>

#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "object_elf_images.h"
#include "process_core_builder.h"
#include "symbols/fact_cache.h"
#include "symbols/kept_lines.h"
#include "symbols/symbol_facts.h"

namespace whocall::testing {
namespace {

// The user's cache directory, for the time of a test.
class CacheDirectory {
 public:
  CacheDirectory() {
    const char* before = std::getenv("XDG_CACHE_HOME");
    before_ = before != nullptr ? before : "";
    setenv("XDG_CACHE_HOME", base_.path().c_str(), 1);
  }
  CacheDirectory(const CacheDirectory&) = delete;
  CacheDirectory& operator=(const CacheDirectory&) = delete;
  ~CacheDirectory() {
    before_.empty() ? unsetenv("XDG_CACHE_HOME") : setenv("XDG_CACHE_HOME", before_.c_str(), 1);
  }

  [[nodiscard]] std::filesystem::path folder() const {
    return std::filesystem::path(base_.path()) / "whocall" / "facts";
  }
  // The one file in it.
  [[nodiscard]] std::filesystem::path file() const {
    return std::filesystem::directory_iterator(folder())->path();
  }

 private:
  TemporaryDirectory base_;
  std::string before_;
};

std::vector<std::byte> some_facts() { return {std::byte{1}, std::byte{2}, std::byte{3}}; }

TEST_CASE("kept facts: they are found under their key and kind, and nowhere else") {
  const CacheDirectory cache;
  keep_facts("key", "starts", some_facts());
  CHECK(find_facts("key", "starts") == some_facts());
  CHECK_FALSE(find_facts("key", "names").has_value());
  CHECK_FALSE(find_facts("other", "starts").has_value());
}

TEST_CASE("kept facts: damaged ones and other people's are none") {
  const CacheDirectory cache;
  keep_facts("key", "starts", some_facts());
  SUBCASE("a changed byte") {
    std::fstream file(cache.file(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put(9);
  }
  SUBCASE("cut short") { std::filesystem::resize_file(cache.file(), 20); }
  SUBCASE("longer") { std::filesystem::resize_file(cache.file(), 200); }
  SUBCASE("a file that others can write") { chmod(cache.file().c_str(), 0666); }
  SUBCASE("a directory that others can write") { chmod(cache.folder().c_str(), 0777); }
  SUBCASE("switched off") { setenv("WHOCALL_CACHE", "off", 1); }
  CHECK_FALSE(find_facts("key", "starts").has_value());
  unsetenv("WHOCALL_CACHE");
}

TEST_CASE("kept facts: what a writer that was killed left behind is removed") {
  const CacheDirectory cache;
  keep_facts("key", "starts", some_facts());
  const std::filesystem::path old = cache.folder() / ".new-abcdef";
  const std::filesystem::path fresh = cache.folder() / ".new-ghijkl";
  std::ofstream(old).put('x');
  std::ofstream(fresh).put('x');
  std::filesystem::last_write_time(
      old, std::filesystem::file_time_type::clock::now() - std::chrono::minutes(2));
  keep_facts("other", "starts", some_facts());
  CHECK_FALSE(std::filesystem::exists(old));
  CHECK(std::filesystem::exists(fresh));
  CHECK(find_facts("key", "starts") == some_facts());
}

TEST_CASE("kept facts: a key changes with the file and with its debug file") {
  const TemporaryDirectory directory;
  const auto file = ElfFile::open(directory.write("program", image_with({})));
  const auto other = ElfFile::open(directory.write("other", image_with({})));
  const auto key = facts_key(*file, nullptr);
  REQUIRE(key.has_value());
  CHECK(facts_key(*file, nullptr) == key);
  CHECK(facts_key(*other, nullptr) != key);
  CHECK(facts_key(*file, other.get()) != key);
  const std::string plugin = directory.write("plugin", image_with({}));
  const auto with_plugin = facts_key(*file, nullptr, plugin);
  REQUIRE(with_plugin.has_value());
  CHECK(with_plugin != key);
  std::filesystem::resize_file(plugin, 4096);
  CHECK(facts_key(*file, nullptr, plugin) != with_plugin);
  CHECK_FALSE(facts_key(*file, nullptr, plugin + "?").has_value());
  std::filesystem::resize_file(file->path(), 4096);
  CHECK(facts_key(*file, nullptr) != key);
  std::filesystem::remove(file->path());
  CHECK_FALSE(facts_key(*file, nullptr).has_value());
}

TEST_CASE("symbol facts: what is written is read again; what is cut short or out of order is not") {
  const std::vector<FunctionStart> starts = {{0x1000, StartEvidence::fde},
                                             {0x1010, StartEvidence::call_target}};
  const auto bytes = encode(starts);
  const auto read = decode_starts(bytes);
  REQUIRE(read.has_value());
  REQUIRE(read->size() == 2);
  CHECK(read->at(1).address == 0x1010);
  CHECK(read->at(1).evidence == StartEvidenceSet(StartEvidence::call_target));
  CHECK_FALSE(decode_starts(std::span(bytes).first(bytes.size() - 1)).has_value());
  CHECK_FALSE(decode_starts(encode(std::vector<FunctionStart>{starts[1], starts[0]})).has_value());

  const std::vector<InferredName> names = {{0x1000, "main", NameSource::entry, ""},
                                           {0x1010, "parse", NameSource::message, "\"parse\""}};
  const auto told = encode(names);
  const auto known = decode_names(told);
  REQUIRE(known.has_value());
  REQUIRE(known->size() == 2);
  CHECK(known->at(1).name == "parse");
  CHECK(known->at(1).source == NameSource::message);
  CHECK(known->at(1).proof == "\"parse\"");
  for (std::size_t size = 1; size < told.size(); ++size) {
    const auto part = decode_names(std::span(told).first(size));
    CHECK((!part || part->size() == 1));
  }

  const std::vector<DirectJump> jumps = {{0x1014, 0x1008}, {0x1002, 0x1010}};
  const auto written = encode(jumps);
  const auto found = decode_jumps(written);
  REQUIRE(found.has_value());
  REQUIRE(found->size() == 2);
  CHECK(found->at(1).source == 0x1002);
  CHECK(found->at(1).target == 0x1010);
  CHECK_FALSE(decode_jumps(std::span(written).first(written.size() - 1)).has_value());
  CHECK_FALSE(decode_jumps(encode(std::vector<DirectJump>{jumps[1], jumps[0]})).has_value());
}

TEST_CASE("kept lines: what is written is read again; what is cut short or out of order is not") {
  const LineAnswers answers = {{0x1000, {{"inner", "a.h", 7, "/src"}, {"outer", "a.c", 20}}},
                               {0x1010, {}},
                               {0x1020, {{"", "", 0}}}};
  const auto bytes = encode(answers);
  const auto read = decode_line_answers(bytes);
  REQUIRE(read.has_value());
  REQUIRE(read->size() == 3);
  CHECK(read->at(0x1000).at(1).function == "outer");
  CHECK(read->at(0x1000).at(0).line == 7);
  CHECK(read->at(0x1000).at(0).directory == "/src");
  CHECK(read->at(0x1010).empty());
  CHECK(read->at(0x1020).at(0).file.empty());
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    const auto part = decode_line_answers(std::span(bytes).first(size));
    CHECK((!part || part->size() < 3));
  }
  auto twice = bytes;
  twice.insert(twice.end(), bytes.begin(), bytes.end());
  CHECK_FALSE(decode_line_answers(twice).has_value());
  auto many = encode(LineAnswers{{0x1000, {}}});
  many.at(11) = std::byte{0xff};  // levels of inlining
  CHECK_FALSE(decode_line_answers(many).has_value());
}

TEST_CASE("kept lines: nothing is kept of small files, and of those that hang on others") {
  const CacheDirectory cache;
  const TemporaryDirectory directory;
  REQUIRE_FALSE(directory.write("whocall_dw.so", {}).empty());  // nobody has to load it
  const char* before = std::getenv("WHOCALL_PLUGIN_DIR");
  const std::string plugins = before != nullptr ? before : "";
  setenv("WHOCALL_PLUGIN_DIR", directory.path().c_str(), 1);
  const auto kept_of = [&](const std::string& name, const std::string& section, std::size_t pad) {
    const auto image = image_with({{.name = section, .contents = Bytes(pad)}});
    const auto file = ElfFile::open(directory.write(name, image));
    KeptLines first(*file, *file);
    first.add(0x1000, {{"f", "f.c", 1}});
    first.save();
    KeptLines second(*file, *file);
    return second.find(0x1000) != nullptr;
  };
  constexpr std::size_t kLarge = 1U << 18U;
  CHECK(kept_of("large", ".padding", kLarge));
  CHECK_FALSE(kept_of("small", ".padding", 16));
  CHECK_FALSE(kept_of("shared", ".gnu_debugaltlink", kLarge));
  CHECK_FALSE(kept_of("split", ".debug_addr", kLarge));
  before != nullptr ? setenv("WHOCALL_PLUGIN_DIR", plugins.c_str(), 1)
                    : unsetenv("WHOCALL_PLUGIN_DIR");
}

}  // namespace
}  // namespace whocall::testing
