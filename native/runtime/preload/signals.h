// The functions for signals that libwhocall-crash.so puts in front of the C library's.
#pragma once

// So that our own calls reach the C library's: to be called first of all.
void use_real_sigaction();

// From now on they keep what the program wants. Without it they are the C library's.
void stand_before_sigaction();
