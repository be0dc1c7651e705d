// What the words of a stack tell by themselves, before anything is known of frames.
#pragma once

#include "process/process_image.h"

namespace whocall {

// The lowest whole word of the stack that `sp` belongs to, at `sp` or above.
Address first_word_above(Address sp, const ProcessImage& process);

// Whether `pc`, which lies at `slot`, is a pointer to a function that was copied, rather than a
// return address.
bool is_copied_pointer(Address slot, Address pc, const ProcessImage& process);

// Whether `pc`, found on the stack as the return address of the frame that ends at `cfa`, looks
// like one although no code before it can be seen.
bool looks_returned_to(Address cfa, Address pc, const ProcessImage& process);

}  // namespace whocall
