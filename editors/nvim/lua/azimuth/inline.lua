--- Suggestions of text where the user types. The server decides what is suggested, and when its model is asked; here a
--- suggestion is shown, followed as the user types, and accepted.
---
--- While the user types what is shown, no request is sent: the suggestion only becomes shorter. Everything else that
--- happens in insert mode is a request. The server answers it at once, later, or with a reason for silence.

local client = require("azimuth.client")
local edits = require("azimuth.inline.edits")
local gate = require("azimuth.inline.gate")
local held = require("azimuth.inline.held")
local menus = require("azimuth.inline.menu")
local protocol = require("azimuth.generated.protocol")
local request = require("azimuth.inline.request")
local text = require("azimuth.text")

local M = {}

local OFF = { state = "off" }
local UNKNOWN = "The server has not said yet if there is a model for suggestions."

---@type azimuth.InlineStatusParams
local status = OFF
--- The subject of the last request. The same is not asked twice.
---@type string?
local asked_about = nil
local is_asking_soon = false
--- The other plugin that the user was told of.
---@type string?
local told_of = nil

---@param words string
---@param level? integer
local function say(words, level)
  vim.notify("Azimuth: " .. words, level or vim.log.levels.INFO)
end

--- Says something in one line, while the user types.
---@param words string
local function echo(words)
  local line = text.shortened("Azimuth: " .. text.one_line(words), math.max(20, vim.o.columns - 13))
  vim.api.nvim_echo({ { line } }, true, {})
end

-- Asking ------------------------------------------------------------------------------------------------------------

--- The subject of a request: the text, the cursor, and the selected entry of the menu.
---@param entry? azimuth.inline.Entry
---@return string
local function about(entry)
  local bufnr = vim.api.nvim_get_current_buf()
  local cursor = vim.api.nvim_win_get_cursor(0)
  local parts = { bufnr, vim.api.nvim_buf_get_changedtick(bufnr), cursor[1], cursor[2] }
  return table.concat(parts, " ") .. " " .. (entry and entry.text or "")
end

--- Returns why the server suggests nothing at all; nil if it does.
---@return string?
local function off()
  if status.state ~= "off" then
    return nil
  elseif not client.lsp_client() then
    return "The server is not running. :Azimuth starts it."
  end
  return status.reason and status.reason.words or UNKNOWN
end

--- Returns why nobody can be asked; nil if somebody can.
---@param is_invoked boolean
---@return string?
local function silent(is_invoked)
  local why = off()
  -- If the server has not said why it is off, its answer to the user's request does.
  if why and not (is_invoked and why == UNKNOWN) then
    return why
  end
  return gate.silent(is_invoked)
end

---@param answer azimuth.inline.Answer
---@param is_invoked boolean
---@param bufnr integer
local function take(answer, is_invoked, bufnr)
  -- The user may have gone on: to another buffer, out of insert mode, into a snippet.
  if bufnr ~= vim.api.nvim_get_current_buf() or gate.silent(is_invoked) then
    asked_about = nil
    return
  end
  local why = off()
  local is_shown = not why and held.take_over(bufnr, answer.row, answer.suggestions, is_invoked)
  if is_invoked and not is_shown then
    echo(answer.problem or why or "There is no suggestion here.")
  end
end

---@param is_invoked boolean
local function ask(is_invoked)
  local menu = menus.open()
  local entry = menu and menu.entry
  local this = about(entry)
  if not is_invoked and this == asked_about then
    return
  end
  asked_about = this
  local bufnr = vim.api.nvim_get_current_buf()
  request.ask(is_invoked, entry, function(answer)
    take(answer, is_invoked, bufnr)
  end)
end

--- Tells the user of another plugin that suggests, once.
local function tell_of_other()
  local bufnr = vim.api.nvim_get_current_buf()
  local other = gate.is_on() and client.is_document(bufnr) and gate.other(bufnr)
  if other and other ~= told_of then
    told_of = other
    -- In one line, or the user would have to confirm it while typing.
    say(("%s suggests text here already. See :h azimuth-inline-others"):format(other))
  end
end

--- Asks when Neovim waits for the next key. By then the keys of a macro or of `:normal` are played, and insert mode is
--- over again.
local function ask_soon()
  if is_asking_soon then
    return
  end
  is_asking_soon = true
  vim.schedule(function()
    is_asking_soon = false
    tell_of_other()
    if held.refresh() then
      return
    elseif silent(false) then
      request.withdraw(true)
      asked_about = nil
    else
      ask(false)
    end
  end)
end

-- Events ------------------------------------------------------------------------------------------------------------

--- Something was typed, or the cursor has moved.
local function happened()
  if status.state ~= "off" and not held.refresh() then
    ask_soon()
  end
end

--- Insert mode ends, or the user goes elsewhere.
local function leave()
  held.drop("ignored")
  request.withdraw()
  asked_about = nil
end

---@return boolean
local function is_inserting()
  return vim.startswith(vim.api.nvim_get_mode().mode, "i")
end

--- The menu has changed. While it tells so, nothing may be changed.
local function happened_to_menu()
  if status.state ~= "off" then
    vim.schedule(function()
      if is_inserting() then
        happened()
      end
    end)
  end
end

--- Insert mode begins.
local function enter()
  if status.state ~= "off" then
    gate.forget(vim.api.nvim_get_current_buf())
    menus.listen(happened_to_menu)
    happened()
  end
end

local function listen()
  local group = vim.api.nvim_create_augroup("azimuth.inline", { clear = true })
  local function on(events, callback)
    vim.api.nvim_create_autocmd(events, {
      group = group,
      callback = function(args)
        callback(args)
      end,
    })
  end
  on("InsertEnter", enter)
  on({ "TextChangedI", "TextChangedP", "CursorMovedI" }, happened)
  on({ "InsertLeave", "InsertChange", "BufLeave", "WinLeave" }, leave)
  on("CompleteChanged", function()
    menus.note()
    happened_to_menu()
  end)
  on("CompleteDone", function()
    menus.forget()
    happened_to_menu()
  end)
  vim.api.nvim_create_autocmd("User", {
    group = group,
    pattern = { "BlinkCmpMenuOpen", "BlinkCmpMenuClose" },
    callback = happened_to_menu,
  })
  on({ "WinScrolled", "WinResized", "VimResized" }, held.redraw)
  on("BufUnload", function(args)
    gate.forget(args.buf)
  end)
end

local function redraw_status()
  vim.schedule(function()
    vim.cmd("redrawstatus!")
  end)
end

---@param now azimuth.InlineStatusParams
local function take_status(now)
  local was_off = status.state == "off"
  status = now
  asked_about = nil
  if now.state == "off" then
    held.drop("ignored")
    -- The user still hears the answer to a request by key: it has the reason.
    request.withdraw(true)
  elseif was_off and is_inserting() then
    enter()
  end
  redraw_status()
end

-- Keys --------------------------------------------------------------------------------------------------------------

--- Accepts a part of the suggestion on the screen, as an undo step of its own. Keys do it, so that this can be called
--- while text must not be changed, as in an `<expr>` mapping.
---@param part "all"|"word"|"line"
---@return boolean is_accepted False if nothing is on the screen.
local function accept(part)
  if not held.refresh() or not held.is_visible() then
    return false
  end
  local step = ("<C-g>u<Cmd>lua require('azimuth.inline.held').take('%s')<CR><C-g>u"):format(part)
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(step, true, true, true), "in", false)
  return true
end

--- Accepts the suggestion that is on the screen.
---@return boolean is_accepted False if there is none.
function M.accept()
  return accept("all")
end

--- Accepts its next word.
---@return boolean is_accepted
function M.word()
  return accept("word")
end

--- Accepts it up to the end of the line.
---@return boolean is_accepted
function M.line()
  return accept("line")
end

---@param count integer
---@return boolean is_there
local function step(count)
  if not held.refresh() or not held.is_visible() then
    return false
  elseif held.count() > 1 then
    held.step(count)
    return true
  end
  -- Typing brings one; the others come when they are asked for.
  local bufnr = vim.api.nvim_get_current_buf()
  request.ask(true, nil, function(answer)
    if bufnr ~= vim.api.nvim_get_current_buf() or silent(true) or not held.refresh() then
      return
    elseif held.add(answer.suggestions) then
      held.step(count)
    else
      echo("There is no other suggestion here.")
    end
  end)
  return true
end

--- Shows the next of several suggestions.
---@return boolean is_there False if none is on the screen.
function M.next()
  return step(1)
end

--- Shows the previous one.
---@return boolean is_there
function M.prev()
  return step(-1)
end

--- Dismisses the suggestion on the screen. The same is not suggested there again.
---@return boolean is_dismissed False if there is none.
function M.dismiss()
  if not held.refresh() then
    return false
  end
  held.drop("rejected")
  request.withdraw()
  -- Nothing else comes up in its place until the user goes on.
  asked_about = about(nil)
  return true
end

--- Asks for a suggestion here, also if suggestions are off or paused. If there is none, it says why.
---@return boolean done Always true.
function M.invoke()
  local why = silent(true)
  if why then
    echo(why)
  elseif held.refresh() and held.is_visible() then
    step(1)
  elseif not held.reveal() then
    ask(true)
  end
  return true
end

--- True if a suggestion is on the screen: for mappings of the user's own.
---@return boolean
function M.visible()
  return held.is_visible()
end

-- Edits: what they do is said where they are.
M.go, M.next_hunk, M.ask_edit = edits.go, edits.next_hunk, edits.ask_edit
M.accept_hunk, M.accept_edit = edits.accept_hunk, edits.accept_edit
M.reject_hunk, M.reject_edit = edits.reject_hunk, edits.reject_edit
M.edit_visible = edits.visible

-- Commands ----------------------------------------------------------------------------------------------------------

--- The state of suggestions, for a status line: `off` without a model or if the user has turned them off.
---@return "off"|"ready"|"slow"|"failing"|"snoozed"
function M.state()
  if (status.state == "off" and not status.editModel) or not gate.is_on() then
    return "off"
  elseif gate.snoozed() then
    return "snoozed"
  end
  -- Edits may be suggested if no text is.
  return status.state == "off" and "ready" or status.state --[[@as "ready"|"slow"|"failing"]]
end

--- The server's last word on suggestions.
---@return azimuth.InlineStatusParams
function M.status()
  return status
end

--- Returns why nothing is suggested in a buffer, whatever the mode; nil if something is.
---@param bufnr integer
---@return string?
function M.why_not(bufnr)
  if status.state == "off" then
    return off()
  end
  return gate.switched_off() or gate.closed(bufnr)
end

--- The cost of today's suggestions in all windows; nil if nothing costs.
---@return string?
function M.cost()
  local cost = status.cost
  return cost and (require("azimuth.text").dollars(cost) .. " today") or nil
end

---@return string
local function cost_in_words()
  local cost = M.cost()
  local unknown = status.costUnknown and " Its cost is not known, so no limit holds for it." or ""
  return (cost and (" It costs %s (UTC)."):format(cost) or "") .. unknown
end

---@return string
local function state_in_words()
  local bufnr = vim.api.nvim_get_current_buf()
  local why, why_no_edits = M.why_not(bufnr), edits.why_not(bufnr)
  local of_edits = not why_no_edits and ("Edits are suggested by %s."):format(edits.model()) or nil
  if why then
    -- Without a model for text, edits alone are not worth two sentences.
    return of_edits or why
  elseif status.state == "failing" then
    return "The model's server fails: " .. (status.reason and status.reason.words or "the reason is not known.")
  end
  local by = status.model and ", by " .. status.model or ""
  local slow = status.state == "slow" and status.reason and " " .. status.reason.words or ""
  local of_text = ("Text is suggested where you type%s.%s%s"):format(by, slow, cost_in_words())
  return of_text .. (of_edits and " " .. of_edits or "")
end

---@param on boolean
local function turn(on)
  gate.turn(on)
  if not on then
    leave()
    edits.leave()
  end
  redraw_status()
  say(state_in_words())
end

---@param given? string
local function snooze(given)
  local minutes = tonumber(given or "5")
  if not minutes or minutes < 0 or minutes > 1440 then
    local problem = "%q is not a number of minutes up to 1440"
    local cure = "; :Azimuth inline snooze 5 pauses suggestions for five minutes."
    say((problem .. cure):format(given), vim.log.levels.ERROR)
    return
  end
  minutes = math.floor(minutes)
  gate.snooze(minutes)
  leave()
  edits.leave()
  redraw_status()
  -- The status line says when it is over.
  vim.defer_fn(redraw_status, minutes * 60000 + 100)
  say(minutes > 0 and ("suggestions are paused for %s."):format(text.plural(minutes, "minute")) or state_in_words())
end

--- Runs `:Azimuth inline`.
---@param words table
function M.command(words)
  local what = words[2]
  if what == "on" or what == "off" then
    turn(what == "on")
  elseif what == "toggle" then
    turn(not gate.is_on() or gate.snoozed() ~= nil)
  elseif what == "snooze" then
    snooze(words[3])
  elseif what == "why" then
    require("azimuth.inline.why").open()
  elseif what == "counts" then
    require("azimuth.inline.counts").open(words[3])
  elseif what then
    local problem = "there is no :Azimuth inline %s; there are on, off, toggle, snooze, why and counts."
    say(problem:format(what), vim.log.levels.ERROR)
  else
    say(state_in_words())
  end
end

--- The part of `:checkhealth` about suggestions.
function M.check()
  vim.health.start("Azimuth: suggestions where you type")
  local by = edits.model()
  local no_model = "No model suggests edits: `next_edit_model` is not set."
  vim.health.info(by and ("Edits are suggested by %s."):format(by) or no_model)
  if status.state == "off" then
    vim.health.info(off() or "")
    return
  end
  local model = status.model or "a model"
  if status.state == "failing" then
    vim.health.warn(("%s fails: %s"):format(model, status.reason and status.reason.words or "the reason is not known."))
  elseif status.state == "slow" then
    vim.health.warn(("%s: %s"):format(model, status.reason and status.reason.words or "it is slow."))
  else
    vim.health.ok(("Text is suggested by %s.%s"):format(model, cost_in_words()))
  end
  if not gate.is_on() then
    vim.health.info("You have turned suggestions off; :Azimuth inline on turns them on.")
  end
  local other = gate.other(vim.api.nvim_get_current_buf())
  if other then
    vim.health.warn(("%s suggests text, so Azimuth suggests none."):format(other), {
      "Turn it off, or have both shown: require('azimuth').setup({ inline = { force = true } }).",
    })
  end
  vim.health.info(":Azimuth inline why, in the file, tells why there is no suggestion.")
end

client.on_notification(protocol.notifications.inline_status, take_status)
client.on("connection", function(_, event)
  if event.state ~= "ready" then
    take_status(OFF)
    request.lost()
  end
end)
listen()

return M
