---@meta
--- Every shape of the plugin, once. What travels to the server and back has the names of the protocol: camelCase
--- around messages, snake_case in them.

--- The name of one of our own happenings; `agent_lsp.events` says when each comes and what it carries.
---@alias agent.EventName "message"|"state"|"approve"|"approval_resolved"|"run_start"|"run_end"|"session"|"history"|"earlier"|"received"|"started"|"stopped"

---@alias agent.SessionState "idle"|"running"|"compacting"|"waiting_approval"|"reconnecting"|"auth_required"
---@alias agent.StopReason "completed"|"failed"|"aborted"|"timeout"|"malformed"|"auth"
---@alias agent.RunStatus agent.StopReason|"max_turns"

---@class agent.ModelRef
---@field provider string
---@field model string

---@class agent.ModelInfo: agent.ModelRef
---@field hasCredential boolean
---@field contextWindow? integer tokens

---@class agent.TokenCounts tokens
---@field cache_read integer input read from a cache
---@field cache_write integer input not read from one
---@field output integer all generated tokens
---@field total integer

---@class agent.SessionInfo
---@field sessionId string
---@field title? string
---@field workspace string URI
---@field model agent.ModelRef
---@field mode string
---@field approvalMode string
---@field thinkingLevel? string
---@field state agent.SessionState
---@field createdAt string
---@field updatedAt string
---@field turns integer
---@field usage agent.TokenCounts
---@field contextTokens integer
---@field contextWindow? integer tokens
---@field parentId? string

--- `agent/state`
---@class agent.State
---@field sessionId string
---@field state agent.SessionState
---@field queued integer
---@field pendingApprovals integer
---@field attempt? integer
---@field retryInMs? integer
---@field hint? string

---@class agent.Message
---@field timestamp string ISO 8601, UTC, milliseconds
---@field type "session_meta"|"model_msg"|"event_msg"
---@field payload agent.Payload
---@field origin? string[] of a child session: its ids, outer to inner

--- The fields of all kinds of payloads; `type` says which of them are there.
---@class agent.Payload
---@field type string
---@field event_type? "start"|"delta"|"stop" of fragments
---@field role? "user"|"assistant"
---@field sender? "user"|"parent_agent"|"harness"
---@field text? string
---@field thinking? string
---@field name? string
---@field arguments? string JSON, as the model wrote it
---@field tool_call_id? string
---@field output? string
---@field images? string[] data URLs
---@field image_url? string web or data URL
---@field data? string base64
---@field mime_type? string
---@field stop_reason? agent.StopReason
---@field status? string
---@field error_message? string
---@field attempt? integer
---@field retry_in_ms? integer
---@field decision? string
---@field reason? string
---@field mode? string
---@field title? string

--- `agent/message`: `seq` is the number of the first of `messages`; numbers never skip.
---@class agent.MessageParams
---@field sessionId string
---@field runId? string
---@field seq integer
---@field messages agent.Message[]

---@class agent.TextPart
---@field type "text"
---@field text string

---@class agent.ImagePart
---@field type "image"
---@field data? string data URL
---@field url? string

---@class agent.ResourcePart
---@field type "resource"
---@field uri string
---@field range? lsp.Range in the client's encoding

---@alias agent.InputPart agent.TextPart|agent.ImagePart|agent.ResourcePart
---@alias agent.Input string|agent.InputPart[]

---@class agent.RunResult
---@field sessionId string
---@field status agent.RunStatus
---@field runId string
---@field turns integer
---@field text string
---@field usage agent.TokenCounts
---@field errorMessage? string
---@field queued? boolean
---@field undelivered? integer

---@class agent.ApproveParams
---@field sessionId string
---@field origin? string[]
---@field toolCall { tool_call_id: string, name: string, arguments: string }
---@field permission "r"|"rw"
---@field title string
---@field preview? agent.Preview
---@field remember? agent.RuleOffer[]

---@class agent.Preview
---@field kind "edit"|"command"|"text"
---@field uri? string
---@field diff? string
---@field created? boolean
---@field command? string
---@field cwd? string
---@field text? string

---@class agent.RuleOffer
---@field kind "call"|"command"|"tool"
---@field scope "session"|"workspace"
---@field rule string opaque
---@field label string

---@class agent.ApproveResult
---@field decision "allow"|"deny"
---@field remember? { scope: string, rule: string }
---@field feedback? string

---@class agent.Edit
---@field editId string
---@field runId string
---@field tool_call_id string
---@field uri string
---@field range lsp.Range
---@field state "pending"|"kept"|"undone"|"changed"

---@class agent.History
---@field messages agent.Message[] oldest first
---@field nextCursor? string
---@field previousCursor? string of a page that was read from the end: what leads to the messages before it, or, read forward, to it
---@field earlier? integer how many messages there are before such a page
---@field live? agent.Message[] segments that are not finished, each as a start and one delta
---@field nextSeq integer
---@field pending { runs: { runId: string, input: agent.Input }[], steers: { steerId: string, input: agent.Input }[], approvals: agent.ApproveParams[] }

--- An error as every callback gets it. `message` is one line that a person can read.
---@class agent.Error
---@field code integer
---@field message string
---@field data? { kind?: string, hint?: string, sessionId?: string, runId?: string }

---@alias agent.Callback fun(err?: agent.Error, result?: any)

--- A word to a running task. It is `sending` until the server has accepted it.
---@class agent.Steer
---@field id? string
---@field text string
---@field input agent.Input
---@field state "sending"|"pending"|"delivered"|"withdrawn"

-- The model of a conversation ------------------------------------------------------------------------------------------

---@alias agent.SegmentKind "user"|"steer"|"text"|"thinking"|"summary"|"tool"|"block"|"notice"

--- A piece of the conversation. Its text only grows at its end, and never after it was closed.
---@class agent.Segment
---@field id integer nobody else's in its session
---@field before? agent.Segment the one that stands before it
---@field kind agent.SegmentKind
---@field open boolean
---@field lead string what separates it from the segment before
---@field origin? string[]
---@field run_id? string
---@field sender? "user"|"parent_agent"|"harness"
---@field head? string of a tool or block: the line that stays when it is folded
---@field pieces string[] the text, joined
---@field bytes integer of the text
---@field tool? agent.ToolCall
---@field status? string how it ended, if not well
---@field last? agent.Segment of the line of a subagent: the last one of what that has said, folded into the line

---@class agent.Child
---@field id string of its session
---@field notice agent.Segment the line that names it

---@class agent.ToolCall
---@field id string
---@field name string
---@field arguments string JSON, once the call is complete
---@field written? integer bytes of the arguments so far
---@field has_output? boolean
---@field state "writing"|"asked"|"running"|"done"|"failed"|"denied"|"aborted"
---@field began? string timestamp of the call
---@field ended? string timestamp of the output

--- What a message did to the model, for a view to follow.
---@class agent.Change
---@field kind "open"|"text"|"close"|"mark"|"insert" `mark`: nothing of the text has changed, only state
---@field segment agent.Segment of an `insert` the first of those that are new
---@field text? string what was added
---@field inserted? agent.Inserted

--- What was put between segments that were there already. They are all closed, unless a call among them still runs.
---@class agent.Inserted
---@field segments agent.Segment[]
---@field after? agent.Segment the one that they stand behind; nil: at the top
---@field follower? agent.Segment the one that stands behind them
---@field gap string what the follower's lead has more of now

-- Settings -------------------------------------------------------------------------------------------------------------

---@class agent.Config
---@field cmd string[] the server's program and arguments; a bare name is looked up in $PATH
---@field settings table<string, any> settings of the server in camelCase, as `initializationOptions.agent`
---@field root_markers string[] a workspace begins where one of these is
---@field workspace_trusted boolean|fun(root: string): boolean whether the workspace's own configuration counts
---@field chat agent.ChatConfig
---@field prompt agent.PromptConfig
---@field approval agent.ApprovalConfig
---@field log_level integer one of `vim.log.levels`

---@class agent.ChatConfig
---@field position "right"|"left"|"bottom"|"top"|"tab"|"current"
---@field size number columns or rows, below 1 a share of the screen
---@field fold boolean whether thinking and outputs are folded when they end

---@class agent.PromptConfig
---@field height integer lines
---@field history integer how many prompts are kept for a session

---@class agent.ApprovalConfig
---@field ui "float"|"select"

---@class agent.UserConfig
---@field cmd? string[]
---@field settings? table<string, any>
---@field root_markers? string[]
---@field workspace_trusted? boolean|fun(root: string): boolean
---@field chat? table
---@field prompt? table
---@field approval? table
---@field log_level? integer
