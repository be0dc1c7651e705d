// Places in the source that code names: paths of Rust, what is kept, which place is near.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "symbols/inferred/near_place.h"
#include "symbols/inferred/rust_paths.h"
#include "symbols/symbol_facts.h"

namespace whocall::testing {
namespace {

constexpr AddressRange kFunction{0, 0x140};

const CodePlace* near(std::span<const CodePlace> places, Address link, unsigned beside = 0) {
  return near_place(places, kFunction, link, [=](std::string_view) { return beside; });
}

PanicPlaces some_places() {
  PanicPlaces places;
  places.files = {"src/main.rs", "/rustc/1/library/core/src/option.rs"};
  places.places = {{0x3000, 0, 9, 5}, {0x1000, 0, 7, 5}, {0x2000, 1, 900, 1}, {0x4000, 0, 7, 5}};
  places.sort();
  return places;
}

CodePlace place_at(Address at, std::string file, std::uint32_t line, AddressRange call = {}) {
  CodePlace place{.at = at, .call = call, .file = std::move(file), .line = line};
  place.is_rust = place.file.ends_with(".rs");
  place.reached_from = {at};
  return place;
}

TEST_CASE("paths of Rust: crates, modules, what a reader needs") {
  struct Row {
    const char* path;
    const char* crate;
    const char* module;
    const char* shown;
    bool standard;
  };
  const std::vector<Row> rows = {
      {"/home/me/.cargo/registry/src/index.crates.io-6f17d22bba15001f/regex-1.9.1/src/exec.rs",
       "regex", "exec", "regex-1.9.1/src/exec.rs", false},
      {"/cargo/registry/src/github.com-1ecc6299db9ec823/aho-corasick-0.7.19/src/nfa/mod.rs",
       "aho-corasick", "nfa", "aho-corasick-0.7.19/src/nfa/mod.rs", false},
      {"src/output/table.rs", "", "output::table", "src/output/table.rs", false},
      {"src/main.rs", "", "", "src/main.rs", false},
      {"crates/core/src/lib.rs", "", "", "crates/core/src/lib.rs", false},
      {"/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/core/src/option.rs", "core",
       "option", "core/src/option.rs", true},
      {"/root/.rustup/toolchains/stable/lib/rustlib/src/rust/library/std/src/io/stdio.rs", "std",
       "io::stdio", "std/src/io/stdio.rs", true},
      {"/rust/deps/gimli-0.32.3/src/read/line.rs", "gimli", "read::line",
       "gimli-0.32.3/src/read/line.rs", true},
      {"/usr/src/rustc-1.63.0/vendor/miniz_oxide-0.4.0/src/inflate/core.rs", "miniz_oxide",
       "inflate::core", "miniz_oxide-0.4.0/src/inflate/core.rs", true},
      {"/cargo/registry/src/github.com-1ecc6299db9ec823/gimli-0.25.0/src/read/line.rs", "gimli",
       "read::line", "gimli-0.25.0/src/read/line.rs", true},
      {"panics.rs", "", "", "panics.rs", false},
      {"", "", "", "", false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.path);
    CHECK(crate_of_path(row.path) == row.crate);
    CHECK(module_of_path(row.path) == row.module);
    CHECK(short_rust_path(row.path) == row.shown);
    CHECK(is_standard_rust(row.path) == row.standard);
  }
}

TEST_CASE("places of panics: kept and read again, and not when damaged") {
  const std::vector<std::byte> kept = encode(some_places());
  const auto again = decode_panic_places(kept);
  REQUIRE(again.has_value());
  CHECK(encode(*again) == kept);
  CHECK(again->places.size() == 4);
  CHECK(again->in({0x1000, 0x2001}).size() == 2);
  for (std::size_t size = 0; size < kept.size(); ++size) {
    if (const auto part = decode_panic_places(std::span(kept).first(size))) {
      CHECK(part->places.size() < 4);
    }
  }
  PanicPlaces wrong = some_places();
  wrong.places[0].file = 2;  // there is none
  CHECK_FALSE(decode_panic_places(encode(wrong)).has_value());
}

TEST_CASE("places of panics: who else names one") {
  const PanicPlaces places = some_places();
  const std::vector<AddressRange> first = {{0x1000, 0x2000}};
  const std::vector<AddressRange> both = {{0x1000, 0x2000}, {0x4000, 0x5000}};
  CHECK(places.is_shared(places.in({0x1000, 0x1001})[0], first));
  CHECK_FALSE(places.is_shared(places.in({0x1000, 0x1001})[0], both));
  CHECK_FALSE(
      places.is_shared(places.in({0x3000, 0x3001})[0], std::vector{AddressRange{0x3000, 0x3001}}));
}

TEST_CASE("near places: that of the call itself, even of a header") {
  const std::vector<CodePlace> places = {place_at(0x10, "a.c", 1),
                                         place_at(0x20, "b.h", 2, {0x20, 0x25})};
  CHECK(near(places, 0x21)->line == 2);
  CHECK(near(places, 0x25)->line == 1);
  CHECK(near({}, 0x25) == nullptr);
}

TEST_CASE("near places: of a call that gets one of several nothing is said") {
  const AddressRange call{0x30, 0x35};
  const std::vector<CodePlace> places = {place_at(0x10, "src/a.rs", 1, call),
                                         place_at(0x20, "src/b.rs", 2, call)};
  CHECK(near(places, 0x31) == nullptr);
}

TEST_CASE("near places: the standard library's, shared ones and far ones say nothing") {
  std::vector<CodePlace> places = {
      place_at(0x100, "/rustc/1/library/core/src/option.rs", 3, {0x100, 0x105})};
  CHECK(near(places, 0x101) == nullptr);
  places.push_back(place_at(0x120, "src/a.rs", 7));
  CHECK(near(places, 0x101)->line == 7);
  CHECK(near(places, 0x400) == nullptr);
  CHECK(near(places, 0x400, 1) == nullptr);
  CHECK(near(places, 0x400, 2)->line == 7);
  places.back().is_shared = true;
  CHECK(near(places, 0x101) == nullptr);
}

TEST_CASE("near places: a crate's alone may be that of an inlined function") {
  const std::vector<CodePlace> places = {place_at(0x10, "/registry/a-1.0/src/a.rs", 1)};
  CHECK(near(places, 0x12) == nullptr);
  CHECK(near(places, 0x12, 1)->line == 1);
}

TEST_CASE("near places: of several files the program's own, where it is named twice") {
  std::vector<CodePlace> places = {place_at(0x10, "/registry/a-1.0/src/a.rs", 1),
                                   place_at(0x80, "src/main.rs", 2)};
  CHECK(near(places, 0x120) == nullptr);
  places.push_back(place_at(0x90, "src/main.rs", 3));
  CHECK(near(places, 0x120)->line == 3);
  places.push_back(place_at(0x98, "src/other.rs", 3));
  CHECK(near(places, 0x120) == nullptr);
}

TEST_CASE("near places: the majority's file, the nearest check") {
  std::vector<CodePlace> places = {place_at(0x10, "a.c", 1), place_at(0x80, "b.c", 2),
                                   place_at(0x90, "a.c", 3)};
  CHECK(near(places, 0x11)->line == 1);
  CHECK(near(places, 0x70)->line == 3);
  places.pop_back();
  CHECK(near(places, 0x11) == nullptr);
}

}  // namespace
}  // namespace whocall::testing
