; Deep in recursion on a stack of Scheme's own; at the bottom it says so and calls for ever.
(define sum 0)
(define (leaf n) (set! sum (modulo (+ sum n) 65536)))
(define (forever) (leaf 7) (forever))
(define (down n)
  (if (= n 0)
      (begin (display "!") (force-output) (forever))
      (+ 1 (down (- n 1)))))
(down 300)
