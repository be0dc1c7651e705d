\ Deep in its own stacks, of which the C stack shows nothing: the engine is one function of
\ threaded code. It never ends.
: leaf ( n -- ) 50 0 do i over * drop loop drop ;
: fib ( n -- n ) dup 2 < if dup leaf exit then dup 1- recurse swap 2 - recurse + ;
: down ( n -- n ) dup 0= if drop 20 fib exit then 1- recurse 1+ ;
: forever begin 40 down . s" 1 2 + drop" evaluate again ;
forever
