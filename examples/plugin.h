/* What plugin_host.c and plugin.c know of each other. */
typedef double source_function(int at);
typedef double filter_function(source_function *source, int count);

filter_function plugin_filter;
