#lang racket/base
; Recursion that no tail call ends, through map and apply; bignums and strings at the bottom.
(define (fact n) (if (< n 2) 1 (* n (fact (- n 1)))))
(define (leaf n) (string-length (number->string (fact (+ n 60)))))
(define (down n)
  (cond ((= n 0) (leaf 7))
        ((even? n) (+ 1 (car (map (lambda (x) (down (- x 1))) (list n)))))
        (else (+ 1 (apply down (list (- n 1)))))))
(define (forever) (down 120) (forever))
(forever)
