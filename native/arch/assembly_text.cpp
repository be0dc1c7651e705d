#include "arch/assembly_text.h"

namespace whocall {

std::string assembly_text(cs_arch arch, cs_mode mode, ByteView code, Address address) {
  csh handle = 0;
  if (cs_open(arch, mode, &handle) != CS_ERR_OK) {
    return {};
  }
  std::string text;
  cs_insn* found = nullptr;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(code.bytes().data());
  if (cs_disasm(handle, bytes, code.size(), address, 1, &found) == 1) {
    text = found->mnemonic;
    text += found->op_str[0] == '\0' ? "" : " " + std::string(found->op_str);
    cs_free(found, 1);
  }
  cs_close(&handle);
  return text;
}

}  // namespace whocall
