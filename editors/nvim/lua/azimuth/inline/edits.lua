--- Suggested edits: how the text goes on to change after what the user has just changed, there or elsewhere. The server
--- decides what is suggested, keeps it in step with the text, and makes the change; here it is shown, and decided.

local client = require("azimuth.client")
local gate = require("azimuth.inline.gate")
local held = require("azimuth.inline.held")
local pending = require("azimuth.inline.edits.pending")
local protocol = require("azimuth.generated.protocol")
local request = require("azimuth.inline.edits.request")
local text = require("azimuth.text")

local M = {}

local NOTHING = "There is no edit to suggest here."
local NO_MODEL = "No model is named for edits: `next_edit_model` in config.toml."

--- The model that suggests edits; nil if asking is of no use.
---@type string?
local model = nil
--- The text that was asked about last. The same is not asked about twice.
---@type string?
local asked_about = nil
local is_asking_soon = false
--- True while the server makes a change that the user has accepted.
local is_accepting = false
--- The move of the cursor that is about to be made.
---@type fun()?
local move = nil

--- Says something in one line, which waits for no key.
---@param words string
local function echo(words)
  local line = text.shortened("Azimuth: " .. text.one_line(words), math.max(20, vim.o.columns - 13))
  vim.api.nvim_echo({ { line } }, true, {})
end

-- Asking ------------------------------------------------------------------------------------------------------------

---@return string
local function about()
  local bufnr = vim.api.nvim_get_current_buf()
  return ("%d %d"):format(bufnr, vim.api.nvim_buf_get_changedtick(bufnr))
end

---@param is_invoked boolean
local function ask(is_invoked)
  local bufnr = vim.api.nvim_get_current_buf()
  asked_about = about()
  request.ask(is_invoked, asked_about, function(answer)
    local old = pending.edit()
    if answer.edit then
      pending.take(answer.edit, bufnr, is_invoked)
      return
    elseif old and old.kind == "rename" and vim.api.nvim_get_current_buf() == pending.buffer() then
      -- The other uses of a name are found anew with each change of it.
      pending.drop("ignored")
    end
    if is_invoked then
      echo(answer.problem or NOTHING)
    end
  end)
end

--- Asks when Neovim waits for the next key. By then the keys of a macro or of `:normal` are played.
---@param is_again? boolean True to ask about the same text again, if nothing came of it.
local function ask_soon(is_again)
  if is_asking_soon or not model then
    return
  end
  is_asking_soon = true
  vim.schedule(function()
    is_asking_soon = false
    local this = about()
    if not model or is_accepting or request.is_asking(this) then
      return
    elseif this == asked_about and not (is_again and not pending.edit()) then
      return
    elseif gate.silent_on_edits(false) then
      request.withdraw(true)
    else
      ask(false)
    end
  end)
end

-- Events ------------------------------------------------------------------------------------------------------------

local function changed()
  pending.refresh()
  ask_soon()
end

---@param now azimuth.InlineStatusParams
local function take_status(now)
  model = now.editModel
  if not model then
    pending.drop("ignored")
    request.withdraw(true)
    asked_about = nil
  end
end

---@param now azimuth.InlineChangedParams
local function follow(now)
  local edit = pending.edit()
  if edit and edit.id == now.id then
    pending.follow(now.edit)
  end
end

local function listen()
  local group = vim.api.nvim_create_augroup("azimuth.inline.edits", { clear = true })
  local function on(events, callback)
    vim.api.nvim_create_autocmd(events, {
      group = group,
      callback = function()
        callback()
      end,
    })
  end
  on({ "TextChanged", "TextChangedI", "TextChangedP" }, changed)
  on({ "CursorMoved", "CursorMovedI", "ModeChanged", "RecordingEnter", "CompleteDone" }, pending.refresh)
  on("RecordingLeave", vim.schedule_wrap(pending.refresh))
  on("InsertLeave", function()
    ask_soon(true)
  end)
  on({ "BufEnter", "WinEnter" }, function()
    pending.refresh()
    ask_soon()
  end)
  on({ "WinScrolled", "WinResized", "VimResized", "ColorScheme" }, pending.redraw)
end

-- Decisions ---------------------------------------------------------------------------------------------------------

--- Puts the cursor to a position in a document, which is opened if need be. The way back is in the jump list.
---@param uri string
---@param position azimuth.Position
local function open(uri, position)
  local server = client.lsp_client()
  local encoding = server and server.offset_encoding or "utf-16"
  local location = { uri = uri, range = { start = position, ["end"] = position } }
  vim.lsp.util.show_document(location, encoding, { focus = true, reuse_win = true })
end

--- Scrolls if there is no room for a hunk below the cursor.
---@param hunk azimuth.inline.At
local function make_room(hunk)
  local height = vim.api.nvim_win_get_height(0)
  if vim.fn.winline() + hunk.height - 1 > height then
    vim.cmd(hunk.height <= height / 2 and "normal! zz" or "normal! zt")
  end
end

---@param hunk azimuth.inline.At
local function jump(hunk)
  vim.cmd("normal! m'")
  vim.api.nvim_win_set_cursor(0, { hunk.row + 1, hunk.col })
  vim.cmd("normal! zv")
  make_room(hunk)
  pending.note_jump()
  pending.refresh()
end

--- Moves the cursor as the next thing that happens. A key does it, so that this can be called while the cursor must not
--- be moved, as in an `<expr>` mapping.
---@param how fun()
---@return boolean done Always true.
local function move_next(how)
  move = how
  local key = "<Cmd>lua require('azimuth.inline.edits').move()<CR>"
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(key, true, true, true), "in", false)
  return true
end

--- Makes the move that was asked for.
function M.move()
  local how = move
  move = nil
  if how and pending.edit() then
    how()
  end
end

--- Puts the cursor where the server says it belongs after a change.
---@param result azimuth.InlineAcceptResult
local function land(result)
  local bufnr = vim.api.nvim_get_current_buf()
  if vim.uri_from_bufnr(bufnr) == result.uri then
    local row, col = pending.position(bufnr, result.cursor)
    local cursor = vim.api.nvim_win_get_cursor(0)
    if math.abs(cursor[1] - 1 - row) > 1 then
      vim.cmd("normal! m'")
    end
    vim.api.nvim_win_set_cursor(0, { row + 1, col })
  end
end

--- An action that does nothing while a change is being made, so that a key that is pressed again does not do what it
--- did before.
---@param action fun(): boolean
---@return fun(): boolean
local function when_free(action)
  return function()
    return is_accepting or action()
  end
end

--- Has the server make the change, as an undo step of its own.
---@param hunks? string[] Without them, all.
---@return boolean done Always true.
local function accept(hunks)
  local edit, bufnr = pending.edit(), vim.api.nvim_get_current_buf()
  if not edit then
    return true
  end
  is_accepting = true
  pending.conceal(true)
  request.withdraw()
  request.accept(edit.id, hunks, function(err, result)
    is_accepting = false
    if err then
      echo(err.message)
      if err.code == protocol.error_codes.notFound then
        pending.drop()
      else
        pending.conceal(false)
      end
      return
    end
    pending.drop()
    land(result)
    if result.rest then
      -- The rest goes on from this text, so nothing else is asked for.
      asked_about = about()
      pending.take(result.rest, bufnr, true)
    else
      ask_soon()
    end
  end)
  return true
end

--- Goes to the edit, and if the cursor is there, accepts what is on the screen of it.
---@return boolean done False if no edit is visible.
M.go = when_free(function()
  if not pending.refresh() then
    return false
  end
  local edit, hunks, nearest = pending.edit(), pending.hunks()
  if pending.buffer() ~= vim.api.nvim_get_current_buf() then
    return move_next(function()
      open(edit.uri, edit.target)
      pending.note_jump()
      pending.refresh()
    end)
  elseif not nearest then
    return false
  elseif not nearest.is_here then
    return move_next(function()
      jump(nearest)
    end)
  end
  local seen = {}
  for _, hunk in ipairs(hunks) do
    if hunk.is_seen or hunk == nearest then
      table.insert(seen, hunk.id)
    end
  end
  return accept(#seen < #edit.hunks and seen or nil)
end)

--- Accepts the hunk at the cursor.
---@return boolean done False if there is none.
M.accept_hunk = when_free(function()
  pending.refresh()
  local _, nearest = pending.hunks()
  if not nearest or not nearest.is_here then
    return false
  end
  return accept(#pending.edit().hunks > 1 and { nearest.id } or nil)
end)

--- Accepts all of the edit. To another file it goes first.
---@return boolean done False if there is none.
M.accept_edit = when_free(function()
  if pending.edit() and pending.buffer() ~= vim.api.nvim_get_current_buf() then
    return M.go()
  end
  return pending.edit() ~= nil and accept()
end)

--- Rejects the hunk at the cursor, or the nearest one; of another file, all of the edit. The same is not suggested there
--- again.
---@return boolean done False if there is none.
M.reject_hunk = when_free(function()
  pending.refresh()
  local _, nearest = pending.hunks()
  if not pending.edit() then
    return false
  elseif not nearest or #pending.edit().hunks == 1 then
    pending.drop("rejected")
  else
    pending.reject(nearest.id)
  end
  return true
end)

--- Rejects all of the edit.
---@return boolean done False if there is none.
M.reject_edit = when_free(function()
  if not pending.edit() then
    return false
  end
  pending.drop("rejected")
  request.withdraw()
  return true
end)

--- Goes to the next hunk, after the last one to the first.
---@return boolean done False if there is none.
M.next_hunk = when_free(function()
  local edit = pending.edit()
  if not edit then
    return false
  elseif pending.buffer() ~= vim.api.nvim_get_current_buf() then
    return M.go()
  end
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local hunks = pending.hunks()
  local next_one = vim.iter(hunks):find(function(hunk)
    return hunk.row > row and not hunk.is_here
  end) or hunks[1]
  return next_one ~= nil and move_next(function()
    jump(next_one)
  end)
end)

--- Asks for an edit, also if edits are off or paused. If there is none, it says why.
---@return boolean done Always true.
function M.ask_edit()
  local why = gate.silent_on_edits(true)
  if why then
    echo(why)
  elseif not pending.reveal() then
    ask(true)
  end
  return true
end

--- Lets the edit go without a decision.
function M.leave()
  pending.drop("ignored")
  request.withdraw()
  asked_about = nil
end

-- Telling -----------------------------------------------------------------------------------------------------------

--- True if an edit, or a hint to where it is, is on the screen.
---@return boolean
function M.visible()
  return pending.is_visible()
end

--- The model that suggests edits, if there is one.
---@return string?
function M.model()
  return model
end

--- Returns why no edit is suggested in a buffer, whatever the mode; nil if one is.
---@param bufnr integer
---@return string?
function M.why_not(bufnr)
  return (not model and NO_MODEL) or gate.edits_switched_off() or gate.closed_to_edits(bufnr)
end

---@type table<string, { run: fun(): boolean, problem: string }>
local commands = {
  go = { run = M.go, problem = "no edit is shown." },
  accept = { run = M.accept_hunk, problem = "there is no suggested hunk at the cursor." },
  ["accept all"] = { run = M.accept_edit, problem = "there is no suggested edit." },
  reject = { run = M.reject_hunk, problem = "there is no suggested edit." },
  ["reject all"] = { run = M.reject_edit, problem = "there is no suggested edit." },
  next = { run = M.next_hunk, problem = "there is no suggested hunk." },
  ask = { run = M.ask_edit, problem = NOTHING },
}

--- Runs `:Azimuth edit`.
---@param words string[]
function M.command(words)
  local what = table.concat(words, " ", 2)
  local command = commands[what == "" and "go" or what]
  if not command then
    local problem = "Azimuth: there is no :Azimuth edit %s; there are go, accept [all], reject [all], next and ask."
    vim.notify(problem:format(what), vim.log.levels.ERROR)
  elseif not command.run() then
    echo(command.problem)
  end
end

client.on_notification(protocol.notifications.inline_status, take_status)
client.on_notification(protocol.notifications.inline_changed, follow)
client.on("connection", function(_, event)
  if event.state ~= "ready" then
    is_accepting = false
    request.lost()
    take_status({ state = "off" })
  end
end)
held.listen(function()
  pending.refresh()
end)
listen()

return M
