/* A library that crashes while it is loaded: in the function that chooses an implementation, which
 * the dynamic linker calls in the middle of its relocations; with -DCONSTRUCTOR in a constructor. */
static volatile int *volatile nowhere = (int *)16;

#ifdef CONSTRUCTOR
__attribute__((constructor)) static void begin(void) { *nowhere = 1; }
#else
static int one(void) { return 1; }
__attribute__((used)) static int (*choose(void))(void) {
  *(volatile int *)16 = 1;
  return one;
}
int chosen(void) __attribute__((ifunc("choose")));
int (*volatile use_it)(void) = chosen;
#endif
int some_value(void) { return *nowhere; }
