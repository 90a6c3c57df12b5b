--- Taking back what a turn did to files, and putting it again (docs/undo.md). A window shows first what would become of each
--- file; one that was changed since is left, unless the user says of it that it is to be set all the same.

local client = require("azimuth.client")
local protocol = require("azimuth.generated.protocol")
local text = require("azimuth.text")
require("azimuth.highlights")

local M = {}

local requests = protocol.requests
local namespace = vim.api.nvim_create_namespace("azimuth.undo")

---@class azimuth.undo.Plan
---@field session_id azimuth.SessionId
---@field params azimuth.CheckpointPreviewParams What was looked at.
---@field preview azimuth.CheckpointPreviewResult
---@field confirmed table<string, boolean> The files, by URI, that are to be set though they were changed since.

---@param message string
---@param level? integer
local function say(message, level)
  vim.notify("Azimuth: " .. message, level or vim.log.levels.INFO)
end

---@type table<azimuth.Direction, { verb: string, done: string, applied: azimuth.CheckpointState, nothing: string, request: string }>
local ways = {
  undo = {
    verb = "undo",
    done = "undone",
    applied = "applied",
    nothing = "there is nothing to undo.",
    request = requests.checkpoint_undo,
  },
  redo = {
    verb = "redo",
    done = "redone",
    applied = "undone",
    nothing = "there is nothing to redo.",
    request = requests.checkpoint_redo,
  },
}

---@param plan azimuth.undo.Plan
local function way(plan)
  return ways[plan.params.direction]
end

-- The text of the window --------------------------------------------------------------------------------------------

--- Says what would become of a file: a sign, the words, and the highlight of both.
---@param plan azimuth.undo.Plan
---@param file azimuth.CheckpointFile
---@return string sign
---@return string words
---@return string group
local function fate(plan, file)
  local what = way(plan)
  if file.state == what.applied then
    -- To undo is the reverse of what the turns made of the file.
    local undo = plan.params.direction == "undo"
    local words = ("-%d +%d"):format(undo and file.added or file.removed, undo and file.removed or file.added)
    if file.change ~= "modify" then
      words = (file.change == "create") == undo and "is deleted" or "is made again"
    end
    return "✓", words, "AzimuthDone"
  elseif file.state == "changed_since" and plan.confirmed[file.uri] then
    return "!", "restored anyway: " .. (file.merges and "what was changed stays" or "what was changed is overwritten"), "AzimuthAsk"
  elseif file.state == "changed_since" then
    return "–", "left: " .. (file.reason or "it was changed since"), "AzimuthWarning"
  elseif file.state == "not_kept" or file.state == "unreadable" then
    return "–", "left: " .. (file.reason or "its former text is unknown"), "AzimuthWarning"
  end
  return " ", "is " .. what.done .. " already", "AzimuthDim"
end

--- How many files would be set, of those that are shown.
---@param plan azimuth.undo.Plan
---@return integer
local function to_set(plan)
  return #vim.tbl_filter(function(file)
    return file.state == way(plan).applied or (file.state == "changed_since" and plan.confirmed[file.uri] == true)
  end, plan.preview.files)
end

--- The lines of the window, and at which of them, from 1, a file stands.
---@param plan azimuth.undo.Plan
---@return azimuth.Block
---@return table<integer, azimuth.CheckpointFile>
local function drawn(plan)
  local into, at_line = { lines = {}, marks = {} }, {}
  local function put(line, group)
    table.insert(into.lines, line)
    if group then
      table.insert(into.marks, { row = #into.lines - 1, col = 0, group = group })
    end
  end
  local widest = 0
  for _, file in ipairs(plan.preview.files) do
    widest = math.max(widest, vim.fn.strdisplaywidth(text.one_line(file.path, 60)))
  end
  for _, file in ipairs(plan.preview.files) do
    local sign, words, group = fate(plan, file)
    local path = text.one_line(file.path, 60)
    put(("%s %s%s  %s"):format(sign, path, (" "):rep(widest - vim.fn.strdisplaywidth(path)), text.one_line(words, 300)))
    table.insert(into.marks, { row = #into.lines - 1, col = 0, end_col = #sign, group = group })
    table.insert(into.marks, { row = #into.lines - 1, col = #into.lines[#into.lines] - #text.one_line(words, 300), group = group })
    at_line[#into.lines] = file
  end
  if #plan.preview.files == 0 then
    put("No file is changed by it.", "AzimuthDim")
  end
  if plan.preview.pendingHunks > 0 then
    local one = plan.preview.pendingHunks == 1
    put(("%s that %s undecided %s rejected."):format(
      text.plural(plan.preview.pendingHunks, "hunk"),
      one and "is" or "are",
      one and "is" or "are"
    ), "AzimuthWarning")
  end
  return into, at_line
end

---@param plan azimuth.undo.Plan
---@return string
local function title(plan)
  local turns = plan.preview.turnIds
  local which = #turns > 1 and text.plural(#turns, "turn") or "the turn"
  local state = client.state(plan.session_id)
  for _, entry in ipairs(state and state.entries or {}) do
    if entry and entry.kind == "user" and entry.id == turns[#turns] then
      local said = text.one_line((require("azimuth.render").prompt(entry.prompt)), 60)
      if said ~= "" then
        which = ("%s%s"):format(#turns > 1 and which .. " from " or "", said)
      end
    end
  end
  return (" %s: %s "):format((way(plan).verb:gsub("^%l", string.upper)), which)
end

--- Says what the keys of the window do.
---@param plan azimuth.undo.Plan
---@return string[]
local function keys(plan)
  local said = { "q leaves all" }
  for _, file in ipairs(plan.preview.files) do
    if file.state == "changed_since" then
      table.insert(said, 1, "x restores this one, too")
      break
    end
  end
  if to_set(plan) > 0 then
    table.insert(said, 1, ("y %s in %s"):format(way(plan).verb, text.plural(to_set(plan), "file")))
  elseif plan.preview.pendingHunks > 0 then
    table.insert(said, 1, "y rejects")
  end
  return said
end

-- Doing it ----------------------------------------------------------------------------------------------------------

--- Says what came of it. Where something was set, the chat says more.
---@param plan azimuth.undo.Plan
---@param result azimuth.CheckpointRestoreResult
local function tell(plan, result)
  local set, left = 0, {}
  for _, file in ipairs(result.files) do
    if file.outcome.type == "done" or file.outcome.type == "unverified" then
      set = set + 1
    else
      table.insert(left, ("%s: %s"):format(text.one_line(file.path), text.one_line(file.outcome.reason or "", 300)))
    end
  end
  local words = ("%s: %d of %s."):format(way(plan).done, set, text.plural(#result.files, "file"))
  if #result.files == 0 then
    words = "what was undecided is rejected."
  end
  if #left > 0 then
    words = words .. " Left as it is: " .. table.concat(left, "; ")
  end
  say(words, #left > 0 and vim.log.levels.WARN or nil)
end

--- The turns that were shown, whatever came last meanwhile.
---@param plan azimuth.undo.Plan
local function shown_turns(plan)
  local turns = plan.preview.turnIds
  return { sessionId = plan.session_id, turnId = turns[#turns], andLater = plan.params.andLater or #turns > 1 }
end

---@param plan azimuth.undo.Plan
local function restore(plan)
  local params = shown_turns(plan)
  params.confirmed = {}
  for _, file in ipairs(plan.preview.files) do
    if plan.confirmed[file.uri] then
      table.insert(params.confirmed, { uri = file.uri, now = file.now })
    end
  end
  client.request(way(plan).request, params, function(err, result)
    if err then
      say(err.message, vim.log.levels.ERROR)
    else
      tell(plan, result)
    end
  end)
end

--- Takes in what would be done now, which may be something else than what is shown.
---@param plan azimuth.undo.Plan
---@param fresh azimuth.CheckpointPreviewResult
---@return boolean # Whether all is as it was shown. What of it is not loses its confirmation.
local function renew(plan, fresh)
  local is_same = vim.deep_equal(plan.preview, fresh)
  for _, file in ipairs(plan.preview.files) do
    local as_shown = vim.iter(fresh.files):any(function(now)
      return vim.deep_equal(now, file)
    end)
    plan.confirmed[file.uri] = as_shown and plan.confirmed[file.uri] or nil
  end
  plan.preview = fresh
  return is_same
end

--- Shows what would be done, and does it on a key.
---@param plan azimuth.undo.Plan
local function show(plan)
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.bo[bufnr].bufhidden = "wipe"
  vim.bo[bufnr].modeline = false
  local at_line, window
  local function draw()
    local block
    block, at_line = drawn(plan)
    vim.bo[bufnr].modifiable = true
    vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, block.lines)
    vim.bo[bufnr].modifiable = false
    vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
    for _, mark in ipairs(block.marks) do
      vim.api.nvim_buf_set_extmark(bufnr, namespace, mark.row, mark.col, {
        end_col = mark.end_col or #block.lines[mark.row + 1],
        hl_group = mark.group,
      })
    end
    local width = math.max(20, math.min(110, vim.o.columns - 6))
    local settings = {
      relative = "editor",
      width = width,
      height = math.max(1, math.min(#block.lines, vim.o.lines - 8)),
      row = math.max(0, math.floor((vim.o.lines - #block.lines) / 2) - 2),
      col = math.floor((vim.o.columns - width) / 2),
      border = "rounded",
      style = "minimal",
      title = text.shortened(title(plan), width - 2),
      footer = text.fit(keys(plan), width),
    }
    if window then
      vim.api.nvim_win_set_config(window, settings)
    else
      vim.cmd.stopinsert()
      window = vim.api.nvim_open_win(bufnr, true, settings)
      vim.api.nvim_set_option_value("cursorline", true, { scope = "local", win = window })
      vim.api.nvim_set_option_value("wrap", true, { scope = "local", win = window })
      vim.api.nvim_set_option_value("breakindent", true, { scope = "local", win = window })
    end
  end
  draw()
  local function map(key, desc, action)
    vim.keymap.set("n", key, action, { buffer = bufnr, nowait = true, desc = "Azimuth: " .. desc })
  end
  local function close()
    if vim.api.nvim_win_is_valid(window) then
      vim.api.nvim_win_close(window, true)
    end
  end
  -- The text of the window is true no longer.
  local off = client.on("turnStarted", function(session_id)
    if session_id == plan.session_id then
      close()
      say("a turn has begun. Nothing was " .. way(plan).done .. "; look again when it has ended.", vim.log.levels.WARN)
    end
  end)
  vim.api.nvim_create_autocmd("BufWipeout", { buffer = bufnr, callback = off, once = true })
  local looks = false
  map("y", way(plan).verb, function()
    if looks or (to_set(plan) == 0 and plan.preview.pendingHunks == 0) then
      return
    end
    looks = true
    local params = shown_turns(plan)
    params.direction = plan.params.direction
    client.request(requests.checkpoint_preview, params, function(err, fresh)
      looks = false
      if not vim.api.nvim_win_is_valid(window) then
        return
      elseif err then
        close()
        say(err.message, vim.log.levels.ERROR)
      elseif renew(plan, fresh) then
        close()
        restore(plan)
      else
        draw()
        say("files have changed in the meantime. Nothing was " .. way(plan).done .. "; look again.", vim.log.levels.WARN)
      end
    end)
  end)
  map("x", "restore the file though it was changed since, or leave it", function()
    local file = at_line[vim.api.nvim_win_get_cursor(window)[1]]
    if file and file.state == "changed_since" and not looks then
      plan.confirmed[file.uri] = not plan.confirmed[file.uri]
      draw()
    end
  end)
  for _, key in ipairs({ "q", "<Esc>" }) do
    map(key, "do nothing", close)
  end
end

--- Where the user is, and in which mode.
local function whereabouts()
  return { vim.api.nvim_get_current_win(), vim.api.nvim_get_mode().mode, vim.api.nvim_win_get_cursor(0) }
end

--- True if a turn runs; the user is told then. Its changes to files are not known before it ends.
---@param session_id azimuth.SessionId
---@return boolean
local function is_busy(session_id)
  local state = client.state(session_id)
  if state and state.running then
    say("a turn is running, and may be changing files. Cancel it or let it end, then look again.", vim.log.levels.WARN)
    return true
  end
  return false
end

--- Asks the server what would be done, and shows it if the user is still there: keys that were meant for something else must
--- not confirm it.
---@param direction azimuth.Direction
---@param turn_id? azimuth.TurnId Without it, the turn that the server would take: the last one that it can be done for.
---@param and_later? boolean Also all turns after it: back to the message that began it.
---@param here any See `whereabouts`.
---@param session_id? azimuth.SessionId
local function ask(direction, turn_id, and_later, here, session_id)
  if not session_id then
    say("no session is open.")
    return
  elseif is_busy(session_id) then
    return
  end
  local params = { sessionId = session_id, turnId = turn_id, andLater = and_later or nil, direction = direction }
  client.request(requests.checkpoint_preview, params, function(err, preview)
    if err then
      say(err.message, vim.log.levels.ERROR)
    elseif is_busy(session_id) then
      return
    elseif #preview.turnIds == 0 then
      say(ways[direction].nothing)
    elseif #preview.files == 0 and preview.pendingHunks == 0 then
      say("nothing was changed there. An earlier message may have changed something: [[ in the chat goes to it.")
    elseif not vim.deep_equal(here, whereabouts()) then
      say(("you did something else in the meantime, so nothing was shown. :Azimuth %s asks again."):format(direction), vim.log.levels.WARN)
    else
      show({ session_id = session_id, params = params, preview = preview, confirmed = {} })
    end
  end)
end

--- Runs `:Azimuth undo` and `:Azimuth redo`: of the turn at the cursor in the chat, of the change at the cursor in a file,
--- elsewhere of the last turn.
---@param words table The words, and in the field `bang` whether all turns from there on are meant.
function M.command(words)
  local chat = package.loaded["azimuth.chat"]
  local turn_id, several
  if type(chat) == "table" then
    turn_id, several = chat.turn_at_cursor(words[1])
  end
  local here = whereabouts()
  local changed = not turn_id and require("azimuth.change").changed_here()
  if changed then
    ask(words[1], nil, words.bang, here, changed)
    return
  end
  client.ensure_session(function(err)
    if err then
      say(err.message, vim.log.levels.ERROR)
    else
      ask(words[1], turn_id, words.bang or several, here, client.session())
    end
  end)
end

return M
