// What a program says of itself, for its reports: pairs of a key and a value.
#pragma once

namespace whocall::runtime {

// Calls `tell` with each pair, in the order in which their keys were first set. The texts hold no
// letter that ends or disguises a line; they stay whole while another thread sets one of them once.
void for_each_annotation(void (*tell)(const char* key, const char* value, void* to), void* to);

}  // namespace whocall::runtime
