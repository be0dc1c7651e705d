// Instructions around a place: decoded from the function's start, or from the call in front of it.
#include "report/form/listing.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "unwind_process.h"

namespace whocall::test {
namespace {

constexpr Address kStart = 0x401000;

const Architecture& x86_64() { return *find_architecture("x86_64"); }

// push %rbp; mov %rsp,%rbp; call 0x402000; mov 0x0,%eax...; leave; ret
std::vector<std::byte> function() {
  std::vector<std::byte> code;
  for (const int byte :
       {0x55, 0x48, 0x89, 0xe5, 0xe8, 0xf7, 0x0f, 0x00, 0x00, 0x31, 0xc0, 0xc9, 0xc3}) {
    code.push_back(static_cast<std::byte>(byte));
  }
  return code;
}

std::vector<std::string> texts(const std::vector<ListedInstruction>& listed) {
  std::vector<std::string> found;
  for (const ListedInstruction& item : listed) {
    found.push_back(item.text);
  }
  return found;
}

std::vector<ListedInstruction> list(const ListingRequest& request) {
  TestProcess process(x86_64());
  process.map(kStart, function(), "r-x");
  const auto image = process.image();
  return list_instructions(*image, request);
}

TEST_CASE("listing: from the function's start on") {
  const auto listed = list({.at = kStart + 9, .start = kStart});
  CHECK(texts(listed) == std::vector<std::string>{"push rbp", "mov rbp, rsp", "call 0x402000",
                                                  "xor eax, eax", "leave", "ret"});
  REQUIRE(listed.size() == 6);
  CHECK(listed[2].address == kStart + 4);
  CHECK(listed[2].target == std::optional<Address>(0x402000));
  CHECK_FALSE(listed[3].target.has_value());
  CHECK(listed[0].bytes == "\x55");
}

TEST_CASE("listing: so many and no more, the nearest ones") {
  const auto listed = list({.at = kStart + 9, .start = kStart, .before = 1, .after = 1});
  CHECK(texts(listed) == std::vector<std::string>{"call 0x402000", "xor eax, eax"});
}

TEST_CASE("listing: without a start, from the call in front") {
  CHECK(texts(list({.at = kStart + 9, .start = std::nullopt, .after = 1})) ==
        std::vector<std::string>{"call 0x402000", "xor eax, eax"});
  CHECK(texts(list({.at = kStart + 11, .start = std::nullopt, .after = 2})) ==
        std::vector<std::string>{"leave", "ret"});
}

TEST_CASE("listing: an instruction that reaches over the place is none") {
  const auto listed = list({.at = kStart + 6, .start = kStart, .after = 1});
  REQUIRE(listed.size() == 5);
  CHECK(listed[2].address == kStart + 4);  // two bytes of the call
  CHECK(listed[2].text.empty());
  CHECK(listed[3].address == kStart + 5);
  CHECK(listed[4].address == kStart + 6);
}

TEST_CASE("listing: what cannot be read ends it") {
  CHECK(list({.at = 0x10, .start = 0x0}).empty());
  CHECK(texts(list({.at = kStart + 12, .start = kStart, .before = 0, .after = 9})) ==
        std::vector<std::string>{"ret"});
  CHECK(texts(list({.at = kStart, .start = kStart - 16, .after = 1})) ==
        std::vector<std::string>{"push rbp"});
  CHECK(texts(list({.at = kStart, .start = kStart + 4, .after = 1})) ==  // behind the place
        std::vector<std::string>{"push rbp"});
}

}  // namespace
}  // namespace whocall::test
