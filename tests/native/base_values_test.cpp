// Ranges, addresses as text, the one error type, mapped files.
#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/address.h"
#include "base/distinct_addresses.h"
#include "base/error.h"
#include "base/hex.h"
#include "base/json_text.h"
#include "base/mapped_file.h"
#include "temporary_file.h"

namespace whocall::test {
namespace {

constexpr Address kTop = ~Address{0};

TEST_CASE("address range: half-open, and empty when turned around") {
  constexpr AddressRange range{0x1000, 0x1010};
  CHECK(range.contains(0x1000));
  CHECK(range.contains(0x100f));
  CHECK_FALSE(range.contains(0x1010));
  CHECK_FALSE(range.contains(0xfff));
  CHECK(range.size() == 0x10);
  CHECK_FALSE(range.empty());
  CHECK(AddressRange{0x1000, 0x1000}.empty());
  CHECK(AddressRange{0x2000, 0x1000}.empty());
  CHECK(AddressRange{0x2000, 0x1000}.size() == 0);
  CHECK_FALSE(AddressRange{0x2000, 0x1000}.contains(0x1800));
  CHECK(AddressRange{0, kTop}.contains(kTop - 1));
}

TEST_CASE("distinct addresses: in order, and whether they came again") {
  std::mt19937_64 random(5);
  for (const Address reach : {Address{1}, Address{200}, Address{100'000}, kTop}) {
    for (const std::size_t count : {0U, 1U, 3000U}) {
      std::vector<Address> addresses(count);
      std::map<Address, unsigned> expected;
      for (Address& address : addresses) {
        address = 0x1000 + random() % reach;
        ++expected[address];
      }
      auto next = expected.begin();
      for_each_distinct(addresses, [&](Address address, bool repeated) {
        REQUIRE(next != expected.end());
        CHECK(address == next->first);
        CHECK(repeated == (next->second > 1));
        ++next;
      });
      CHECK(next == expected.end());
    }
  }
}

TEST_CASE("hex: as gdb writes addresses") {
  CHECK(hex(0) == "0x0");
  CHECK(hex(0x401136) == "0x401136");
  CHECK(hex(kTop) == "0xffffffffffffffff");
}

TEST_CASE("error: says path, reason and remedy") {
  const Error with("/tmp/core", "is not a core", "Give a core file");
  CHECK(std::string(with.what()) == "/tmp/core: is not a core. Give a core file");
  CHECK(with.path() == "/tmp/core");
  CHECK(with.reason() == "is not a core");
  CHECK(with.remedy() == "Give a core file");
  CHECK(std::string(Error("x", "y").what()) == "x: y");
}

TEST_CASE("mapped file: the bytes of a file, also of an empty one") {
  const TemporaryFile full("whocall");
  const auto mapped = MappedFile::open(full.path());
  REQUIRE(mapped->bytes().size() == 7);
  CHECK(std::memcmp(mapped->bytes().data(), "whocall", 7) == 0);
  CHECK(mapped->path() == full.path());
  const TemporaryFile empty("");
  CHECK(MappedFile::open(empty.path())->bytes().empty());
}

TEST_CASE("mapped file: what cannot be mapped is an error with the path and a remedy") {
  const auto error_of = [](const std::string& path) {
    try {
      MappedFile::open(path);
    } catch (const Error& error) {
      CHECK(error.path() == path);
      return error.reason() + "|" + error.remedy();
    }
    return std::string("no error");
  };
  CHECK(error_of("/nowhere/at/all").find("cannot be opened") == 0);
  CHECK(error_of("/nowhere/at/all").find("|Check the path") != std::string::npos);
  CHECK(error_of("/tmp") == "is a directory, not a file|Give the path of a regular file");
  CHECK(error_of("/dev/null") == "is not a file|Give the path of a regular file");
  CHECK(error_of("") != "no error");
}

}  // namespace
}  // namespace whocall::test
