#include "arch/x86/decoder.h"

#include <string>

#include "arch/library_operation.h"
#include "arch/x86/byte_vectors.h"
#include "arch/x86/common_forms.h"

namespace whocall::x86 {
namespace {

class Decoder final : public InstructionDecoder {
 public:
  explicit Decoder(Dialect dialect) : dialect_(dialect), library_(make_library_decoder(dialect)) {}

  std::optional<Instruction> decode(ByteView code, Address address) override {
    const auto common = decode_common_form(code, address, dialect_);
    return common ? common : library_->decode(code, address);
  }

  std::string text(ByteView code, Address address) override {
    const auto vector = read_byte_vector(code, address, dialect_ != Dialect::i386);
    return vector ? vector->mnemonic + " " + vector->operands_text : library_->text(code, address);
  }

  std::optional<Operation> operation(ByteView code, Address address) override {
    const cs_mode mode = dialect_ == Dialect::i386 ? CS_MODE_32 : CS_MODE_64;
    auto vector = read_byte_vector(code, address, mode == CS_MODE_64);
    return vector ? vector : library_operation(CS_ARCH_X86, mode, code, address);
  }

 private:
  Dialect dialect_;
  std::unique_ptr<InstructionDecoder> library_;
};

}  // namespace

std::unique_ptr<InstructionDecoder> make_decoder_64(const CodeReader& /*around*/) {
  return std::make_unique<Decoder>(Dialect::x86_64);
}
std::unique_ptr<InstructionDecoder> make_decoder_32(const CodeReader& /*around*/) {
  return std::make_unique<Decoder>(Dialect::i386);
}
std::unique_ptr<InstructionDecoder> make_decoder_x32(const CodeReader& /*around*/) {
  return std::make_unique<Decoder>(Dialect::x32);
}

}  // namespace whocall::x86
