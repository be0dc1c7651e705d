/* A shop's end of day: the orders are ranked by their totals, and one customer is gone (NULL).
 * No unwind tables, no frame pointers: gdb takes word after word on the stack for a caller, so half
 * of its `??` frames never were, and main is missing. whocall shows the chain, through libc.
 *
 * Build: gcc -O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables -o orders orders.c
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

struct customer { const char *name; int orders_so_far, rebate_percent; };
struct order { const struct customer *customer; int pieces; int cents_each; };

static const struct customer anna = {"Anna", 3, 0}, bela = {"Bela", 41, 10};

static struct order orders[] = {
    {&anna, 2, 499}, {&bela, 1, 12900}, {NULL, 7, 250}, {&anna, 1, 8999}, {&bela, 3, 1999},
};

NOINLINE int rebate_of(const struct customer *customer) {
    if (customer->orders_so_far < 10) /* the crash: no customer, no orders */
        return 0;
    return customer->rebate_percent;
}

NOINLINE int rebated(int cents, const struct order *order) {
    return cents - cents * rebate_of(order->customer) / 100;
}

NOINLINE int total_of(const struct order *order) {
    assert(order->pieces > 0); /* leaves the name of the function in the stripped program */
    int cents = order->pieces * order->cents_each;
    return rebated(cents, order) + (cents < 5000 ? 490 : 0);
}

NOINLINE int by_total(const void *left, const void *right) {
    int left_total = total_of(left), right_total = total_of(right);
    return (left_total < right_total) - (left_total > right_total);
}

NOINLINE int rank_orders(struct order *first, size_t count) {
    qsort(first, count, sizeof *first, by_total);
    return total_of(first);
}

NOINLINE int best_order(void) {
    int cents = rank_orders(orders, sizeof orders / sizeof *orders);
    printf("best order: %d.%02d\n", cents / 100, cents % 100);
    return cents;
}

NOINLINE int close_day(const char *day) {
    printf("closing %s\n", day);
    return best_order() > 0;
}

int main(void) { return !close_day("Tuesday"); }
