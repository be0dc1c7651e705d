#include "arch/x86_decoder.h"

#include <string>

#include "arch/x86_common_forms.h"

namespace whocall::x86 {
namespace {

class Decoder final : public InstructionDecoder {
 public:
  explicit Decoder(bool is_64) : is_64_(is_64), library_(make_library_decoder(is_64)) {}

  std::optional<Instruction> decode(ByteView code, Address address) override {
    const auto common = decode_common_form(code, address, is_64_);
    return common ? common : library_->decode(code, address);
  }

  std::string text(ByteView code, Address address) override {
    return library_->text(code, address);
  }

 private:
  bool is_64_;
  std::unique_ptr<InstructionDecoder> library_;
};

}  // namespace

std::unique_ptr<InstructionDecoder> make_decoder_64() { return std::make_unique<Decoder>(true); }
std::unique_ptr<InstructionDecoder> make_decoder_32() { return std::make_unique<Decoder>(false); }

}  // namespace whocall::x86
