# Every level goes through C: sort's comparison, a replacement of s///e, a code block. It never ends.
use strict;
use warnings;

sub leaf {
    my $text = join ' ', map { $_ * 7919 % 101 } 1 .. 60;
    (my $made = $text) =~ s/(\d+)/$1 * 2/ge;
    my %seen = map { $_ => length } split / /, $made;
    return length(sprintf '%s %g', join(',', sort { $a <=> $b } keys %seen), 1 / 7);
}

sub down {
    my ($n) = @_;
    return leaf() if $n == 0;
    my $found;
    if ($n % 3 == 0) { my @sorted = sort { $found //= down($n - 1); $a <=> $b } 3, 1, 2 }
    elsif ($n % 3 == 1) { 'a' =~ /a(?{ $found = down($n - 1) })/ }
    else { $found = down($n - 1) }
    return $found + 1;
}

down(30) while 1;
