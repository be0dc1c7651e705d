"""Why a program crashed, as far as its registers, memory and last words prove it."""
