--- How an entry of a session looks in the transcript: its lines, what is highlighted, and what is folded. Pure.
---
--- Each entry is drawn alone, whatever stands before it, so that a change of one entry draws nothing else anew.

local blocks = require("azimuth.render.block")
local commands = require("azimuth.render.commands")
local form = require("azimuth.form")
local live_diff = require("azimuth.live_diff")
local protocol = require("azimuth.generated.protocol")
local text = require("azimuth.text")

local M = {}

--- How many files are listed below a line on them; more are folded.
M.MAX_FILES = 8
M.MAX_DETAIL = blocks.MAX_DETAIL
M.open_fence = blocks.open_fence

local block, put, header = blocks.new, blocks.put, blocks.header
local fenced, verbatim, markdown = blocks.fenced, blocks.verbatim, blocks.markdown

---@param uri string
---@return string
local function path_of(uri)
  return text.one_line(uri:match("^file:") and vim.fn.fnamemodify(vim.uri_to_fname(uri), ":~:.") or uri)
end

---@param range azimuth.Range
---@return string
local function lines_of(range)
  local last = range["end"].character == 0 and range["end"].line or range["end"].line + 1
  return ("%d-%d"):format(range.start.line + 1, math.max(last, range.start.line + 1))
end

--- Returns the words of a prompt: its text, and a line for each thing that goes with it.
---@param prompt azimuth.PromptBlock[]
---@return string said
---@return string[] attached
function M.prompt(prompt)
  local said, attached = {}, {}
  for _, part in ipairs(prompt) do
    if part.type == "text" then
      table.insert(said, part.text)
    elseif part.type == "file" then
      table.insert(attached, path_of(part.uri))
    elseif part.type == "range" or part.type == "selection" then
      table.insert(attached, path_of(part.uri) .. ":" .. lines_of(part.range))
    elseif part.type == "image" then
      table.insert(attached, "an image")
    end
  end
  return table.concat(said, "\n"), attached
end

--- How many files a turn changed, and of how many of them that is taken back.
---@param entry azimuth.Entry
---@return string # With what parts it from what stands before it; empty if there is none.
local function changes(entry)
  local left, undone = 0, 0
  for _, change in pairs(entry.changes or {}) do
    if change.undone then
      undone = undone + 1
    else
      left = left + 1
    end
  end
  if left == 0 then
    return undone > 0 and (" · %s undone"):format(text.plural(undone, "file")) or ""
  end
  return (" · changed %s%s"):format(text.plural(left, "file"), undone > 0 and (", %d undone"):format(undone) or "")
end

--- The head of a message, by the mode that it was sent in, where that is not the usual one.
---@type table<azimuth.Mode, string>
local asks_as = { ask = "You, asking", plan = "You, for a plan", bypass = "You, bypassing permission" }

--- The functions that draw entries, by kind.
---@type table<string, fun(entry: azimuth.Entry): azimuth.Block>
local draw = {}

function draw.user(entry)
  local into = block()
  if entry.how == "continue" then
    header(into, "Continued" .. changes(entry), "AzimuthAgent")
    return into
  end
  local who = entry.how == "steer" and "You, to the running turn" or asks_as[entry.mode] or "You"
  header(into, who .. changes(entry), "AzimuthUser")
  put(into, "")
  local said, attached = M.prompt(entry.prompt)
  markdown(into, said, true)
  for _, what in ipairs(attached) do
    put(into, "+ " .. what, "AzimuthDim")
  end
  put(into, "")
  header(into, "Azimuth", "AzimuthAgent")
  return into
end

function draw.assistant(entry)
  local into = block()
  put(into, "")
  markdown(into, entry.text, entry.done == true)
  put(into, "")
  return into
end

function draw.thinking(entry)
  local into = block()
  if not entry.done then
    -- The end of it is enough to see that it goes on.
    put(into, "Thinking: " .. text.one_line(entry.text:sub(-120), 100), "AzimuthDim")
    return into
  end
  local lines = text.lines(vim.trim(entry.text))
  put(into, ("Thought, %s"):format(text.plural(#lines, "line")), "AzimuthDim")
  for _, line in ipairs(lines) do
    -- As a quotation, in which an open fence ends with it.
    put(into, line == "" and ">" or "> " .. line, "AzimuthDim")
  end
  put(into, "")
  into.fold = { first = 0, last = #into.lines - 1 }
  return into
end

---@type table<string, string>
local diff_groups = { ["+"] = "AzimuthAdd", ["-"] = "AzimuthDelete", ["@"] = "AzimuthDim" }

--- The diff of an edit while its call arrives: its end, since that is where it grows.
function draw.diff(entry)
  local into = block()
  local diff = entry.diff
  put(into, ("◌ %s  +%d -%d"):format(text.one_line(entry.path, 160), diff.added, diff.removed), "AzimuthDim")
  table.insert(into.marks, { row = 0, col = 0, end_col = #"◌", group = "AzimuthRunning" })
  local lines, above = live_diff.lines(diff)
  if above > 0 then
    put(into, ("… %s above"):format(text.plural(above, "line")), "AzimuthDim")
  end
  -- In a fence, so that no line of it is taken for Markdown.
  fenced(into, diff.fence, "diff", function()
    for _, line in ipairs(lines) do
      put(into, line, diff_groups[line:sub(1, 1)])
    end
  end)
  return into
end

---@type table<string, { [1]: string, [2]: string }>
local status = {
  running = { "◌", "AzimuthRunning" },
  asking = { "?", "AzimuthAsk" },
  done = { "✓", "AzimuthDone" },
  failed = { "✗", "AzimuthFailed" },
  cancelled = { "–", "AzimuthDim" },
}

--- The input of a tool as text: strings as they are, the rest as JSON.
---@param input any
---@return string
function M.input(input)
  if type(input) ~= "table" then
    return input ~= nil and vim.json.encode(input) or ""
  end
  local names = vim.tbl_keys(input)
  table.sort(names, function(a, b)
    return tostring(a) < tostring(b)
  end)
  local lines = {}
  for _, name in ipairs(names) do
    local value = input[name]
    value = type(value) == "string" and value or vim.json.encode(value)
    table.insert(lines, ("%s: %s"):format(name, value))
  end
  return table.concat(lines, "\n")
end

--- Adds the input and result of a call, folded into its line, or if its command goes on, into one below what that awaits.
---@param into azimuth.Block
---@param entry azimuth.Entry
---@param goes_on boolean
local function detail(into, entry, goes_on)
  local first = goes_on and #into.lines or 0
  if goes_on then
    put(into, "  what came so far", "AzimuthDim")
  end
  local input = M.input(entry.input)
  if input ~= "" then
    verbatim(into, input)
  end
  if entry.judged then
    put(into, text.one_line(entry.judged, 300), "AzimuthDim")
  end
  if not goes_on then
    commands.typed(into, entry)
  end
  if entry.result and entry.result.text ~= "" then
    verbatim(into, entry.result.text)
  end
  if #into.lines > first + 1 then
    into.fold = { first = first, last = #into.lines - 1 }
  end
end

function draw.tool(entry)
  local into = block()
  local waits = commands.is_waiting(entry.terminal)
  local look = waits and status.asking or status[entry.status] or status.running
  local note = commands.note(entry)
  -- A folded line does not wrap, so what a job does stands before its long command.
  local job = entry.done and not waits and note and note .. " · " or ""
  local line = look[1] .. " " .. job .. text.one_line(entry.title or entry.name or "", 160)
  local title_end = #line
  local rest = { job == "" and note or nil }
  local summary = job == "" and entry.summary or nil
  if entry.child and not entry.done then
    table.insert(rest, text.one_line(entry.child.model, 80))
    if entry.child.rounds > 0 then
      table.insert(rest, ("%d %s"):format(entry.child.rounds, entry.child.rounds == 1 and "round" or "rounds"))
    end
    table.insert(rest, text.one_line(entry.child.doing or "Thinking", 120))
  end
  if summary and summary ~= "" and summary ~= entry.title and summary ~= note then
    table.insert(rest, text.one_line(summary, 120))
  end
  if entry.status == "cancelled" then
    table.insert(rest, "not finished")
  end
  if entry.duration_ms and entry.duration_ms >= 100 then
    table.insert(rest, text.duration(entry.duration_ms))
  end
  if entry.trimmed then
    table.insert(rest, "out of the context")
  end
  if #rest > 0 then
    line = line .. "  " .. table.concat(rest, " · ")
  end
  put(into, line)
  table.insert(into.marks, { row = 0, col = 0, end_col = #look[1], group = look[2] })
  if job ~= "" then
    table.insert(into.marks, { row = 0, col = #look[1], end_col = #look[1] + 1 + #job, group = "AzimuthDim" })
  end
  table.insert(into.marks, { row = 0, col = title_end, group = waits and "AzimuthAsk" or entry.status == "failed" and "AzimuthFailed" or "AzimuthDim" })
  local goes_on = waits or (entry.terminal ~= nil and entry.terminal.taken)
  if goes_on or not entry.done then
    commands.running(into, entry)
  end
  if entry.done then
    detail(into, entry, goes_on)
  end
  return into
end

function draw.ran(entry)
  local waits = commands.is_waiting(entry.terminal)
  return commands.ran(entry, waits and status.asking or status[entry.status] or status.running)
end

--- The option that allows for as long as the session lasts.
local IN_SESSION = "session"

--- The key of each option of a question: `a`, `S` and `A` allow, `r` and `R` reject; where two want one key, a digit.
---@param options azimuth.PermissionOption[]
---@return { key: string, option: azimuth.PermissionOption }[]
function M.keys(options)
  local letters = { allow_once = "a", allow_always = "A", reject_once = "r", reject_always = "R" }
  local taken, keys = {}, {}
  for at, option in ipairs(options) do
    local key = option.optionId == IN_SESSION and "S" or letters[option.kind]
    if not key or taken[key] then
      key = tostring(at)
    end
    taken[key] = true
    table.insert(keys, { key = key, option = option })
  end
  return keys
end

--- A question in full: for the transcript and for the small window.
---@param into azimuth.Block
---@param request azimuth.PermissionRequest
---@param plain? boolean Whether the window shows no Markdown, so that the detail needs no fence.
function M.question(into, request, plain)
  local outside = request.about == "outside"
  put(into, (outside and "! " or "? ") .. text.one_line(request.title), outside and "AzimuthOutside" or "AzimuthAsk")
  if request.detail ~= "" and plain then
    for _, line in ipairs(vim.list_slice(text.lines(request.detail), 1, M.MAX_DETAIL)) do
      put(into, "  " .. line)
    end
  elseif request.detail ~= "" then
    verbatim(into, request.detail)
  end
  if request.reason ~= "" then
    for _, line in ipairs(text.lines(request.reason)) do
      put(into, line, "AzimuthDim")
    end
  end
  put(into, "")
  for _, choice in ipairs(M.keys(request.options)) do
    put(into, ("[%s] %s"):format(choice.key, text.one_line(choice.option.name, 400)))
    local row = #into.lines - 1
    table.insert(into.marks, { row = row, col = 0, end_col = #choice.key + 2, group = "AzimuthKey" })
  end
end

--- Returns the answer to a question: its sign, and what was chosen and said.
---@param request azimuth.PermissionRequest
---@param outcome azimuth.PermissionOutcome
---@return string sign
---@return string group
---@return string words
local function answer(request, outcome)
  if outcome.type == "timedOut" then
    return "✓", "AzimuthDone", "Not answered in time: what is recommended is assumed"
  elseif outcome.type ~= "selected" then
    return "–", "AzimuthDim", outcome.type == "moot" and "Settled in another way" or "Not answered"
  elseif outcome.answers and #outcome.answers > 0 then
    return "✓", "AzimuthDone", form.in_words(request, outcome.answers)
  end
  local words, allowed = outcome.optionId, false
  for _, option in ipairs(request.options) do
    if option.optionId == outcome.optionId then
      words = option.name
      allowed = option.kind == "allow_once" or option.kind == "allow_always"
    end
  end
  if outcome.message and outcome.message ~= "" then
    words = words .. ": " .. outcome.message
  end
  return allowed and "✓" or "✗", allowed and "AzimuthDone" or "AzimuthFailed", words
end

--- A line with the answer, and what was asked folded into it. A folded line does not wrap, so the answer comes first.
---@param into azimuth.Block
---@param request azimuth.PermissionRequest
---@param outcome azimuth.PermissionOutcome
local function answered(into, request, outcome)
  local sign, group, words = answer(request, outcome)
  local head = sign .. " " .. text.one_line(words, 400)
  local what = request.title .. " " .. (text.lines(request.detail)[1] or "")
  put(into, head .. " · " .. text.one_line(vim.trim(what)))
  table.insert(into.marks, { row = 0, col = 0, end_col = #sign, group = group })
  table.insert(into.marks, { row = 0, col = #head, group = "AzimuthDim" })
  if request.detail ~= "" then
    verbatim(into, request.detail)
  end
  if request.reason ~= "" then
    for _, line in ipairs(text.lines(request.reason)) do
      put(into, line, "AzimuthDim")
    end
  end
  if #into.lines > 1 then
    into.fold = { first = 0, last = #into.lines - 1 }
  end
end

function draw.permission(entry)
  local into = block()
  if entry.outcome or entry.done then
    answered(into, entry.request, entry.outcome or { type = "cancelled" })
  else
    M.question(into, entry.request)
    put(into, "")
  end
  return into
end

function draw.plan(entry)
  local into = block()
  local looks = { pending = status.cancelled, in_progress = status.running, completed = status.done }
  local signs = { pending = "○", in_progress = "▸", completed = "✓" }
  put(into, "")
  for _, step in ipairs(entry.steps) do
    local sign = signs[step.status] or "○"
    put(into, sign .. " " .. text.one_line(step.content, 300))
    local row = #into.lines - 1
    table.insert(into.marks, { row = row, col = 0, end_col = #sign, group = (looks[step.status] or status.cancelled)[2] })
    if step.status ~= "in_progress" then
      table.insert(into.marks, { row = row, col = #sign, group = "AzimuthDim" })
    end
  end
  put(into, "")
  return into
end

function draw.notice(entry)
  local groups = { info = "AzimuthDim", told = "AzimuthDim", warning = "AzimuthWarning", error = "AzimuthFailed" }
  local words = { told = "The model was told: ", warning = "Warning: ", error = "Error: " }
  local into = block()
  put(into, "")
  local lines = text.lines((words[entry.severity] or "") .. vim.trim(entry.text))
  for _, line in ipairs(lines) do
    put(into, line, groups[entry.severity] or "AzimuthDim")
  end
  put(into, "")
  if entry.severity == "told" and #lines > 1 then
    into.fold = { first = 1, last = #into.lines - 1 }
  end
  return into
end

--- A line for each of some files. Many are folded below a line that counts them.
---@param into azimuth.Block
---@param lines string[]
---@param sign string What stands before the count.
local function about_files(into, lines, sign)
  local first = #into.lines
  if #lines > M.MAX_FILES then
    put(into, ("  %s%s"):format(sign, text.plural(#lines, "file")), "AzimuthDim")
  end
  for _, line in ipairs(lines) do
    put(into, "  " .. line, "AzimuthDim")
  end
  if #lines > M.MAX_FILES then
    into.fold = { first = first, last = #into.lines - 1 }
  end
  put(into, "")
end

function draw.files(entry)
  local into = block()
  local lines = {}
  for _, file in ipairs(entry.files) do
    local sign = file.unknown and "M" or not file.before and "A" or not file.after and "D" or "M"
    local lost = file.unknown and " · cannot be undone: " .. text.one_line(file.unknown, 200) or ""
    table.insert(lines, sign .. " " .. path_of(file.uri) .. lost)
  end
  local who = entry.by_command and "The command" or "Another program"
  put(into, ("%s changed %s"):format(who, text.plural(#entry.files, "file")), "AzimuthDim")
  about_files(into, lines, "")
  return into
end

function draw.formatted(entry)
  local into = block()
  local event = entry.formatted
  local by = event.by and " by " .. text.one_line(event.by, 80) or ""
  put(into, ("Formatted%s: %s  +%d -%d"):format(by, path_of(event.uri), event.added, event.removed), "AzimuthDim")
  return into
end

function draw.restored(entry)
  local into = block()
  local done, rest = {}, {}
  for _, file in ipairs(entry.files) do
    local path, outcome = text.one_line(file.path), file.outcome
    if outcome.type == "done" then
      table.insert(done, "✓ " .. path)
    elseif outcome.type == "unverified" then
      table.insert(done, "✓ " .. path .. "  the editor did not show it yet")
    else
      local how = outcome.type == "left" and "left as it is" or "failed"
      table.insert(rest, ("  – %s  %s: %s"):format(path, how, text.one_line(outcome.reason or "", 300)))
    end
  end
  local what = entry.direction == "undo" and "Undone" or "Redone"
  local turns = #entry.turn_ids > 1 and ", " .. text.plural(#entry.turn_ids, "turn") or ""
  put(into, "")
  put(into, ("%s: %d of %s%s"):format(what, #done, text.plural(#entry.files, "file"), turns), "AzimuthAgent")
  for _, line in ipairs(rest) do
    put(into, line, "AzimuthWarning")
  end
  about_files(into, done, "✓ ")
  return into
end

function draw.command(entry)
  local into = block()
  header(into, text.one_line(entry.command), entry.is_error and "AzimuthFailed" or "AzimuthUser")
  put(into, "")
  markdown(into, entry.text or "", true)
  put(into, "")
  return into
end

draw.handover = require("azimuth.render.handover")

---@type table<azimuth.StopReason, { [1]: string, [2]: string }>
local ends = {
  end_turn = { "Done", "AzimuthDim" },
  max_tokens = { "The answer reached the model's maximum length", "AzimuthWarning" },
  max_turn_requests = { "The turn reached its limit of rounds; say if it should go on, or :Azimuth continue", "AzimuthWarning" },
  refusal = { "The model would not answer", "AzimuthWarning" },
  cancelled = { "Cancelled; :Azimuth continue resumes it", "AzimuthWarning" },
  error = { "Failed; :Azimuth continue resumes it", "AzimuthFailed" },
  interrupted = { "Interrupted; :Azimuth continue resumes it", "AzimuthWarning" },
}

function draw.turn_end(entry)
  local into = block()
  local how = ends[entry.stop_reason] or { "Ended: " .. tostring(entry.stop_reason), "AzimuthWarning" }
  local says_itself = entry.error and entry.error ~= "" and protocol.said_by_error[entry.stop_reason]
  local parts = says_itself and {} or { how[1] }
  local usage = entry.usage
  if usage and usage.input + usage.output + usage.cacheRead + usage.cacheWrite > 0 then
    local input = usage.input + usage.cacheRead + usage.cacheWrite
    table.insert(parts, ("%s in, %s out"):format(text.count(input), text.count(usage.output)))
  end
  local unpriced = entry.unpriced or {}
  local names = text.one_line(table.concat(unpriced, " and "), 80)
  if entry.cost and entry.cost > 0 then
    local but = #unpriced > 0 and (", not counting %s, whose price is unknown"):format(names) or ""
    table.insert(parts, text.dollars(entry.cost) .. but)
  elseif #unpriced > 0 then
    local have = #unpriced == 1 and "has" or "have"
    table.insert(parts, ("cost unknown: %s %s no known price"):format(names, have))
  end
  local function tell(group)
    for _, line in ipairs(text.lines(entry.error or "")) do
      put(into, line, group)
    end
  end
  if says_itself then
    tell(how[2])
  end
  if #parts > 0 then
    put(into, table.concat(parts, " · "), how[2])
  end
  if not says_itself and entry.error and entry.error ~= "" then
    tell("AzimuthFailed")
  end
  put(into, "")
  return into
end

--- The block of an entry.
---@param entry azimuth.Entry
---@return azimuth.Block
function M.entry(entry)
  return draw[entry.kind](entry)
end

--- Returns the block below the last entry: what is tried again, and the prompts that wait.
---@param state azimuth.State
---@return azimuth.Block
function M.footer(state)
  local into = block()
  if state.retrying then
    local again = state.retrying
    local which = again.of and ("retry %d of %d"):format(again.attempt, again.of) or ("retry %d"):format(again.attempt)
    local reason = (text.one_line(again.reason or "", 300):gsub("%.$", ""))
    local clock = again.until_ms and os.date("%H:%M:%S", math.ceil(again.until_ms / 1000))
    -- The seconds count down in the bar above the input, so that this text is not a new one each second.
    put(into, ("%s; %s %s"):format(reason, which, clock and "at " .. clock or "now"), "AzimuthWarning")
    if clock then
      put(into, "gr asks again now, <C-c> stops", "AzimuthDim")
    end
  end
  for at, queued in ipairs(state.queue) do
    local said = M.prompt(queued.prompt)
    put(into, ("Waits, %d: %s"):format(at, text.one_line(said, 160)), "AzimuthDim")
  end
  return into
end

--- The whole of what a tool call was given and gave, or of what the user's own command printed, for a window of its own.
---@param entry azimuth.Entry
---@return string[]
function M.tool_detail(entry)
  if entry.kind == "ran" then
    local lines = { "$ " .. text.one_line(entry.command or "", 400), "" }
    return vim.list_extend(lines, text.lines(entry.text or ""))
  end
  local lines = { text.one_line(entry.title or entry.name or "", 400), "" }
  local input = M.input(entry.input)
  if input ~= "" then
    vim.list_extend(lines, text.lines(input))
    table.insert(lines, "")
  end
  if entry.judged then
    vim.list_extend(lines, { text.one_line(entry.judged, 400), "" })
  end
  if entry.child then
    vim.list_extend(lines, { ("It asked %s, in a conversation of its own. gd opens that."):format(text.one_line(entry.child.model, 80)), "" })
  end
  if entry.result then
    vim.list_extend(lines, text.lines(entry.result.text))
  end
  return lines
end

return M
