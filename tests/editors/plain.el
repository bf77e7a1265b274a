;;; plain.el --- A person with eglot and no plugin  -*- lexical-binding: t -*-

;;; Commentary:
;; Opens a file, has the agent mend it, answers its questions, takes the edit back and leaves. What was seen on the way
;; is written as JSON into the file that REPORT names.

;;; Code:

(require 'cl-lib)
(require 'eglot)
(require 'json)
(require 'python)

(setq eglot-autoshutdown nil
      eglot-sync-connect 20
      eglot-confirm-server-initiated-edits nil
      make-backup-files nil
      create-lockfiles nil)

(defvar plain-answer "Allow" "What the person chooses when something is asked.")
(defvar plain-asked nil "The questions that were put, newest first.")
(defvar plain-seen nil "What the report will say, an alist.")

(defun plain-note (name value)
  "Put VALUE into the report as NAME."
  (push (cons name value) plain-seen))

(defun plain-wait (seconds holds)
  "Let processes speak for at most SECONDS, until HOLDS returns non-nil; its value."
  (let ((end (+ (float-time) seconds)) found)
    (while (and (not (setq found (funcall holds))) (< (float-time) end))
      (accept-process-output nil 0.05))
    found))

(defun plain-choose (prompt choices &rest _)
  "Stand in for the minibuffer: remember PROMPT with its CHOICES, and answer."
  (push (list (cons 'prompt (substring-no-properties prompt)) (cons 'choices (vconcat choices))) plain-asked)
  plain-answer)

(defun plain-command (server command &rest arguments)
  "Run COMMAND of SERVER with ARGUMENTS and wait for its end."
  (jsonrpc-request server :workspace/executeCommand
                   (list :command command :arguments (vconcat arguments)) :timeout 40))

(defun plain-action-titles (server)
  "The titles of the code actions that SERVER offers on a function."
  (vconcat
   (mapcar (lambda (action) (plist-get action :title))
           (jsonrpc-request server :textDocument/codeAction
                            (list :textDocument (eglot--TextDocumentIdentifier)
                                  :range '(:start (:line 3 :character 0) :end (:line 6 :character 0))
                                  :context '(:diagnostics []))))))

(defun plain-edit (server)
  "Have SERVER mend the buffer, then take that back."
  (let ((result (plain-command server "agent.run" "fix greeter.py" nil '(:wait t))))
    (plain-note 'status (plist-get result :status))
    (plain-note 'asked (vconcat (reverse plain-asked))))
  (plain-note 'edited (buffer-string))
  (plain-note 'modified (if (buffer-modified-p) t :json-false))
  (undo-boundary)
  (undo)
  (plain-note 'undone (buffer-string)))

(defun plain-deny (server)
  "Have SERVER ask for something that is not allowed."
  (setq plain-answer "Deny" plain-asked nil)
  (plain-note 'denied (plist-get (plain-command server "agent.run" "create notes.txt" nil '(:wait t)) :text)))

(defun plain-browse (server command name)
  "The page that COMMAND of SERVER has made, the name of whose file matches NAME; nil if none was.
An eglot that knows `window/showDocument' has the browser show it, an older one shows the message that says where it is."
  (let* (browsed (browse-url-browser-function (lambda (url &rest _) (setq browsed (eglot--uri-to-path url)))))
    (eglot-execute-command server command [])
    (when (plain-wait 40 (lambda () (or browsed (setq browsed (plain-told (format "Written to \\(.*%s\\)" name))))))
      (with-temp-buffer
        (insert-file-contents browsed)
        (buffer-string)))))

(defun plain-told (regexp)
  "What the first group of REGEXP matches in the messages, nil if nothing does."
  (with-current-buffer (messages-buffer)
    (save-excursion
      (goto-char (point-min))
      (and (re-search-forward regexp nil t) (match-string-no-properties 1)))))

(defun plain-sleep (server)
  "Have SERVER run a command that takes long; whether it has begun."
  (setq plain-answer "Allow")
  (ignore-errors (delete-file "begun"))
  (eglot-execute-command server "agent.run" ["now please run `touch begun && sleep 300`"])
  (if (plain-wait 20 (lambda () (file-exists-p "begun"))) t :json-false))

(advice-add 'completing-read :override #'plain-choose)
(add-to-list 'eglot-server-programs (cons 'python-mode (list (getenv "AGENT_LSP_CMD"))))
(find-file "greeter.py")
(python-mode)
(buffer-enable-undo)
(apply #'eglot (eglot--guess-contact))

(let* ((server (eglot-current-server))
       (pid (process-id (jsonrpc--process server))))
  (plain-note 'server (plist-get (eglot--server-info server) :name))
  (plain-note 'actions (plain-action-titles server))
  (plain-edit server)
  (plain-deny server)
  (plain-note 'trace (plain-browse server "agent.showTrace" "session.*\\.html"))
  (plain-note 'usage (plain-browse server "agent.showUsage" "usage\\.html"))
  (plain-note 'sleeping (plain-sleep server))
  (plain-note 'aborted (plist-get (plain-command server "agent.abort") :aborted))
  (plain-note 'sleeping-again (plain-sleep server))
  (eglot-shutdown server)
  (plain-note 'gone (if (plain-wait 10 (lambda () (not (file-exists-p (format "/proc/%d" pid))))) t :json-false)))

(with-temp-file (getenv "REPORT")
  (insert (json-encode plain-seen)))
(kill-emacs 0)

;;; plain.el ends here
