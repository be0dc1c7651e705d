// The numbers of the DWARF standard that entries of debug info need (DWARF 4, sections 7.5.4, 7.8
// and 7.12).
#pragma once

#include <cstdint>

namespace whocall::dw {

enum Tag : std::uint8_t {
  TAG_formal_parameter = 0x05,
  TAG_pointer_type = 0x0f,
  TAG_compile_unit = 0x11,
  TAG_unspecified_parameters = 0x18,
  TAG_base_type = 0x24,
  TAG_subprogram = 0x2e,
};

enum Attribute : std::uint8_t {
  AT_location = 0x02,
  AT_name = 0x03,
  AT_byte_size = 0x0b,
  AT_low_pc = 0x11,
  AT_high_pc = 0x12,
  AT_language = 0x13,
  AT_producer = 0x25,
  AT_prototyped = 0x27,
  AT_encoding = 0x3e,
  AT_external = 0x3f,
  AT_type = 0x49,
  AT_linkage_name = 0x6e,
};

enum Form : std::uint8_t {
  FORM_addr = 0x01,
  FORM_string = 0x08,
  FORM_data1 = 0x0b,
  FORM_udata = 0x0f,
  FORM_ref4 = 0x13,
  FORM_exprloc = 0x18,
  FORM_flag_present = 0x19,
};

enum Encoding : std::uint8_t {
  ATE_signed = 0x05,
  ATE_signed_char = 0x06,
  ATE_unsigned = 0x07,
};

enum Language : std::uint8_t {
  LANG_C_plus_plus = 0x04,
  LANG_C99 = 0x0c,
};

}  // namespace whocall::dw
