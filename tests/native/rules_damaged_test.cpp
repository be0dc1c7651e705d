// Call frame instructions that are cut short or state any number: what they end before is a page
// that nobody may read.
#include <doctest/doctest.h>

#include <sys/mman.h>

#include <cstring>
#include <initializer_list>
#include <limits>

#include "rules/cfi_rule.h"

namespace whocall::test {
namespace {

constexpr std::size_t kPage = 65536;  // bytes: no machine has larger ones
constexpr rules::FrameRegisters kX86{.sp = 7, .fp = 6};
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

class BytesAtAnEnd {
 public:
  BytesAtAnEnd(std::initializer_list<unsigned char> bytes) : size_(bytes.size()) {
    void* const pages =
        mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(pages != MAP_FAILED);
    pages_ = static_cast<std::byte*>(pages);
    REQUIRE(mprotect(pages_ + kPage, kPage, PROT_NONE) == 0);
    std::memcpy(pages_ + kPage - size_, bytes.begin(), size_);
  }
  BytesAtAnEnd(const BytesAtAnEnd&) = delete;
  BytesAtAnEnd& operator=(const BytesAtAnEnd&) = delete;
  ~BytesAtAnEnd() { munmap(pages_, 2 * kPage); }

  [[nodiscard]] rules::FrameRule rule(std::int64_t data_alignment = -8) const {
    rules::WholeDescription description;
    description.fde.end = 0x100;
    description.cie.data_alignment = data_alignment;
    description.cie.return_address = 16;
    description.fde.instructions = {pages_ + kPage - size_, 0, size_};
    return rules::rule_at(description, kX86, 0x50);
  }

 private:
  std::byte* pages_ = nullptr;
  std::size_t size_;
};

}  // namespace

TEST_CASE("rules: a block of bytes that is not all there") {
  // What stands before is a rule by itself: CFA rsp + 8, the return address at CFA - 8.
  CHECK(BytesAtAnEnd({0x0c, 7, 8, 0x90, 1}).rule().cfa == rules::FrameRule::Cfa::from_sp);
  using Codes = std::initializer_list<unsigned char>;
  for (const unsigned char code : Codes{0x10, 0x16}) {  // DW_CFA_expression, DW_CFA_val_expression
    CHECK(BytesAtAnEnd({code, 6, 0x64}).rule() == rules::FrameRule{});
    CHECK(BytesAtAnEnd({0x0c, 7, 8, 0x90, 1, code, 6, 0x64}).rule() == rules::FrameRule{});
    CHECK(BytesAtAnEnd({code, 6, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x76}).rule() == rules::FrameRule{});
  }
  CHECK(BytesAtAnEnd({0x0f, 0x64}).rule() == rules::FrameRule{});
  CHECK(BytesAtAnEnd({0x0f, 0x64, 0x76}).rule() == rules::FrameRule{});
}

TEST_CASE("rules: offsets beyond all numbers") {
  // DW_CFA_offset of the return address, DW_CFA_def_cfa_sf, DW_CFA_GNU_negative_offset_extended.
  const BytesAtAnEnd offset{0x0c, 7, 8, 0x90, 0xff, 0xff, 0xff, 0xff, 0x7f};
  CHECK(offset.rule(kMost).cfa == rules::FrameRule::Cfa::none);
  CHECK(offset.rule(-kMost - 1).cfa == rules::FrameRule::Cfa::none);
  const BytesAtAnEnd cfa{0x90, 1,    0x12, 7,    0x80, 0x80, 0x80,
                         0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f};
  CHECK(cfa.rule(-1).cfa == rules::FrameRule::Cfa::none);
  const BytesAtAnEnd least{0x0c, 7,    8,    0x2f, 16,   0x80, 0x80, 0x80,
                           0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01};
  CHECK(least.rule(-1).cfa == rules::FrameRule::Cfa::none);
}

}  // namespace whocall::test
