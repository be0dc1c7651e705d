module deep
  implicit none
contains
  recursive function down(n) result(r)
    integer, intent(in) :: n
    real(8) :: r, a(30, 30)
    character(len=400) :: text
    if (n == 0) then
      call random_number(a)
      write (text, '(10F12.6)') a(1, 1:10)
      r = sum(matmul(a, transpose(a))) + len_trim(text)
    else
      r = through(down, n - 1) + 1
    end if
  end function
  recursive function through(f, n) result(r)
    interface
      recursive function f(n) result(r)
        integer, intent(in) :: n
        real(8) :: r
      end function
    end interface
    integer, intent(in) :: n
    real(8) :: r
    r = f(n) * 1.5d0
  end function
end module
program work
  use deep
  real(8) :: total
  total = 0
  do
    total = total + down(60)
    if (total < 0) print *, total
  end do
end program
