# Perl's subs call each other without a native frame; sort's comparison, regex code blocks, overloaded operators, ties
# and destructors each start a new run loop in C, so every level goes through one of them. Then a read for ever.
use strict;
use warnings;

package Counted;
use overload '+' => sub { main::descend($_[0]{depth} - 1) }, 'fallback' => 1;
sub TIESCALAR { return bless {depth => $_[1]}, $_[0] }
sub FETCH { return main::descend($_[0]{depth} - 1) }

package Dropped;
sub DESTROY { main::descend($_[0]{depth} - 1) }

package main;

sub descend {
    my ($depth) = @_;
    if ($depth <= 0) {
        open my $ready, '>&=', $ENV{STOCK_READY_FD} or die;
        syswrite $ready, "$$\n";
        sysread STDIN, my $buffer, 1;
        return 0;
    }
    my $way = $depth % 5;
    if ($way == 0) { my @sorted = sort { descend($depth - 1); $a <=> $b } 2, 1 }
    elsif ($way == 1) { 'a' =~ /a(?{ descend($depth - 1) })/ }
    elsif ($way == 2) { my $sum = bless({depth => $depth}, 'Counted') + 1 }
    elsif ($way == 3) { tie my $value, 'Counted', $depth; my $copy = $value }
    else { my $dropped = bless {depth => $depth}, 'Dropped'; undef $dropped }
    return 0;
}

descend($ARGV[0]);
