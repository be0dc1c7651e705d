;; Deep in recursion that the interpreter of Emacs evaluates; at the bottom it says so and computes.
(setq max-lisp-eval-depth 5000 max-specpdl-size 10000)
(defvar sum 0)
(defun down (n)
  (if (= n 0)
      (progn (send-string-to-terminal "!") (while t (setq sum (logand 65535 (+ sum 7)))))
    (+ 1 (down (- n 1)))))
(down 300)
