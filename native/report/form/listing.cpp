#include "report/form/listing.h"

#include <algorithm>
#include <array>
#include <deque>
#include <span>
#include <utility>

#include "base/interrupt.h"
#include "process/process_decoder.h"

namespace whocall {
namespace {

constexpr std::size_t kLongestInstruction = 16;  // bytes, with room
constexpr std::size_t kTurnsBetweenChecks = 4096;

class LineLister {
 public:
  LineLister(const ProcessImage& process, InstructionDecoder& decoder)
      : process_(process), decoder_(decoder) {}

  // The instruction at `address`, which does not reach beyond `limit`; a miss where nothing can be
  // read. Bytes that are none, or would reach beyond, are listed without text, one unit of the
  // instruction set's alignment after the other.
  std::optional<ListedInstruction> next(Address address, Address limit, bool with_text) {
    std::array<std::byte, kLongestInstruction> buffer{};
    const std::size_t there = process_.memory->read(
        address, std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), limit - address)));
    if (there == 0) {
      return std::nullopt;
    }
    const std::span<const std::byte> held(buffer.data(), there);
    const ByteView code(held, process_.arch->abi.endian);
    const auto decoded = decoder_.decode(code, address);
    const bool fits = decoded && decoded->size != 0 && decoded->size <= there;
    const std::size_t size =
        fits ? decoded->size : std::min<std::size_t>(process_.arch->code.alignment, there);
    ListedInstruction listed;
    listed.address = address;
    listed.bytes.assign(reinterpret_cast<const char*>(buffer.data()), size);
    if (fits && with_text) {
      listed.text = decoder_.text(code, address);
      listed.target = decoded->target;
    }
    return listed;
  }

  // Where the call that ends at `at` begins; `at` itself where none does.
  [[nodiscard]] Address call_before(Address at) const {
    const CodeModel& code = process_.arch->code;
    if (code.call_before == nullptr || at < code.longest_call) {
      return at;
    }
    std::array<std::byte, kLongestLook> buffer{};
    const auto before = std::span(buffer).first(code.longest_call);
    if (process_.memory->read(at - code.longest_call, before) != before.size()) {
      return at;
    }
    const auto site = code.call_before(ByteView(before, process_.arch->abi.endian), at);
    return site ? at - site->size : at;
  }

 private:
  const ProcessImage& process_;
  InstructionDecoder& decoder_;
};

Address first_address(const LineLister& lister, const ListingRequest& request) {
  const bool usable = request.start && *request.start <= request.at &&
                      request.at - *request.start <= kFarthestStart;
  return usable ? *request.start : lister.call_before(request.at);
}

// Which instructions stand in front of the place: sizes first, as text is wanted of the last only.
std::deque<Address> addresses_before(LineLister& lister, const ListingRequest& request) {
  std::deque<Address> kept;
  Address address = first_address(lister, request);
  for (std::size_t turn = 0; address < request.at; ++turn) {
    check_interrupt_at(turn, kTurnsBetweenChecks);
    const auto found = lister.next(address, request.at, false);
    if (!found) {
      return {};  // a hole: what stands in front of it is not in front of the place
    }
    kept.push_back(address);
    if (kept.size() > request.before) {
      kept.pop_front();
    }
    address += found->bytes.size();
  }
  return kept;
}

}  // namespace

std::vector<ListedInstruction> list_instructions(const ProcessImage& process,
                                                 const ListingRequest& request) {
  const auto decoder = decoder_for(process);
  std::vector<ListedInstruction> listed;
  if (decoder == nullptr) {
    return listed;
  }
  LineLister lister(process, *decoder);
  for (const Address address : addresses_before(lister, request)) {
    if (auto found = lister.next(address, request.at, true)) {
      listed.push_back(std::move(*found));
    }
  }
  Address address = request.at;
  for (std::size_t count = 0; count < request.after; ++count) {
    auto found = lister.next(address, ~Address{0}, true);
    if (!found) {
      break;
    }
    address += found->bytes.size();
    listed.push_back(std::move(*found));
  }
  return listed;
}

}  // namespace whocall
