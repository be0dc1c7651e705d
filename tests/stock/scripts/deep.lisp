; Deep in recursion that no tail call ends; at the bottom it says so and calls for ever.
(defvar *sum* 0)
(defun leaf (n) (setf *sum* (logand 65535 (+ *sum* n))))
(defun down (n)
  (if (= n 0)
      (progn (write-char #\!) (finish-output) (loop (leaf 7)))
      (+ 1 (down (- n 1)))))
(down 300)
