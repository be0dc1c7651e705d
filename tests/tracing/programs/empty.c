/* Hooks that do nothing. */
#define PLAIN __attribute__((no_instrument_function))

void __cyg_profile_func_enter(void* function, void* call_site);
void __cyg_profile_func_exit(void* function, void* call_site);

PLAIN void __cyg_profile_func_enter(void* function, void* call_site) {
  (void)function;
  (void)call_site;
}

PLAIN void __cyg_profile_func_exit(void* function, void* call_site) {
  (void)function;
  (void)call_site;
}
