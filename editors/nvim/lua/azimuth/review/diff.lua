--- A proposal side by side in a tab of its own: left the document itself, right the proposed text, which can be edited.
--- `:w` there changes what is proposed; closing it decides nothing.

local client = require("azimuth.client")
local config = require("azimuth.config")
local decide = require("azimuth.review.decide")
local documents = require("azimuth.review.documents")
local hunks = require("azimuth.review.hunks")
local keys = require("azimuth.review.keys")
local marks = require("azimuth.review.marks")
local text = require("azimuth.text")

local M = {}

---@class azimuth.review.View
---@field session_id string
---@field proposal_id string
---@field revision integer Of the text shown.
---@field left integer Buffers.
---@field right integer
---@field left_window integer
---@field right_window integer
---@field deletes boolean Whether the file is to be deleted.

--- The open views, by the buffer on their right.
---@type table<integer, azimuth.review.View>
local views = {}

---@param view azimuth.review.View
---@return azimuth.Proposal?
local function proposal_of(view)
  local state = client.state(view.session_id)
  return state and state.proposals[view.proposal_id]
end

--- Puts a text into the right buffer, as what is proposed: without a change of the user's to undo.
---@param bufnr integer
---@param whole string
local function put(bufnr, whole)
  local lines = hunks.lines(whole)
  local levels = vim.bo[bufnr].undolevels
  vim.bo[bufnr].modifiable = true
  vim.bo[bufnr].undolevels = -1
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].undolevels = levels
  vim.bo[bufnr].fixendofline = false
  vim.bo[bufnr].endofline = whole:sub(-1) == "\n"
  vim.bo[bufnr].modified = false
end

---@param bufnr integer
---@return string
local function whole_text(bufnr)
  local whole = table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, true), "\n")
  return vim.bo[bufnr].endofline and whole .. "\n" or whole
end

---@param view azimuth.review.View
local function bars(view)
  local proposal = proposal_of(view)
  local count = proposal and hunks.count(proposal) or { hunks = 0, conflicts = 0 }
  local left, right = " your text · do accepts a hunk · dp rejects it", " proposed · dp accepts · do rejects · :w changes the proposal"
  if not config.values.mappings then
    left, right = " your text", " proposed · :w changes the proposal"
  end
  if count.hunks == 0 then
    left, right = " your text", " all is decided"
  elseif view.deletes then
    right = (" the file is to be deleted · %s · %s"):format(keys.shown("accept"), keys.shown("reject"))
  elseif count.conflicts > 0 then
    right = (" proposed, without %s in conflict"):format(text.plural(count.conflicts, "hunk"))
  end
  for window, bar in pairs({ [view.left_window] = left, [view.right_window] = right }) do
    if vim.api.nvim_win_is_valid(window) then
      vim.wo[window][0].winbar = text.bar(bar)
    end
  end
end

---@param view azimuth.review.View
---@param result azimuth.ProposedText
local function take(view, result)
  view.revision = result.revision
  view.deletes = result.proposed == nil
  put(view.right, result.proposed or "")
  vim.bo[view.right].modifiable = not view.deletes
  bars(view)
  vim.cmd("silent! diffupdate")
end

--- Shows what is proposed now, unless the user has edited it.
---@param view azimuth.review.View
local function update(view)
  local proposal = proposal_of(view)
  if vim.bo[view.right].modified then
    bars(view)
    return
  end
  if not proposal or #hunks.open(proposal) == 0 then
    put(view.right, whole_text(view.left))
    vim.bo[view.right].modifiable = false
    bars(view)
    return
  end
  local params = { sessionId = view.session_id, proposalId = view.proposal_id }
  client.request("azimuth/review/text", params, function(err, result)
    -- What is decided meanwhile is seen by the next event.
    if not err and views[view.right] and not vim.bo[view.right].modified then
      take(view, result)
    end
  end)
end

--- Keeps the views true. Called after each change of a proposal.
function M.refresh()
  for _, view in pairs(views) do
    update(view)
  end
end

--- Makes the text on the right the proposed one.
---@param view azimuth.review.View
local function change(view)
  local sent = vim.api.nvim_buf_get_changedtick(view.right)
  client.request("azimuth/review/change", {
    sessionId = view.session_id,
    proposalId = view.proposal_id,
    revision = view.revision,
    text = whole_text(view.right),
  }, function(err, result)
    if err then
      decide.failed(view.session_id, err, "changing the proposal")
      return
    end
    if not views[view.right] then
      return
    end
    for _, proposal in ipairs(result.proposals) do
      if proposal.proposalId == view.proposal_id then
        view.revision = proposal.revision
      end
    end
    if vim.api.nvim_buf_get_changedtick(view.right) == sent then
      vim.bo[view.right].modified = false
      update(view)
    end
    decide.say("the proposal is changed. Nothing is decided yet.")
  end)
end

--- The hunks at some lines of a view's right side, from 0.
---@param bufnr integer
---@param first integer
---@param last integer
---@return { proposal: azimuth.Proposal, hunk: azimuth.Hunk }[]? # Nil where the buffer is of no view.
function M.at(bufnr, first, last)
  local view = views[bufnr]
  if not view then
    return nil
  end
  local proposal = proposal_of(view)
  if vim.bo[bufnr].modified then
    decide.say("the proposed text is edited here. Write it first (:w), then decide.", vim.log.levels.WARN)
    return {}
  end
  local found, seen = {}, {}
  for row = first, proposal and last or first - 1 do
    local hunk = hunks.at_proposed(proposal, row)
    if hunk and not seen[hunk.hunkId] then
      seen[hunk.hunkId] = true
      table.insert(found, { proposal = proposal, hunk = hunk })
    end
  end
  if view.deletes and proposal then
    for _, hunk in ipairs(hunks.open(proposal)) do
      table.insert(found, { proposal = proposal, hunk = hunk })
    end
  end
  return found
end

--- The proposal whose text a buffer shows on the right of a view.
---@param bufnr integer
---@return azimuth.Proposal?
function M.proposal(bufnr)
  return views[bufnr] and proposal_of(views[bufnr])
end

local decisions = { left = { ["do"] = "accept", ["dp"] = "reject" }, right = { ["do"] = "reject", ["dp"] = "accept" } }

---@param bufnr integer
---@param side "left"|"right"
local function map(bufnr, side)
  if not config.values.mappings then
    return
  end
  for lhs, decision in pairs(decisions[side]) do
    vim.keymap.set("n", lhs, ("<Cmd>Azimuth %s<CR>"):format(decision), {
      buffer = bufnr,
      silent = true,
      desc = ("Azimuth: %s the hunk"):format(decision),
    })
  end
end

---@param view azimuth.review.View
local function closed(view)
  views[view.right] = nil
  marks.set_plain(view.left, -1)
  for _, other in pairs(views) do
    if other.left == view.left then
      return
    end
  end
  for lhs in pairs(decisions.left) do
    pcall(vim.keymap.del, "n", lhs, { buffer = view.left })
  end
  if vim.api.nvim_win_is_valid(view.left_window) then
    vim.api.nvim_win_call(view.left_window, function()
      vim.cmd("diffoff")
    end)
    vim.wo[view.left_window][0].winbar = ""
  end
  require("azimuth.review").refresh()
end

---@param session_id string
---@param proposal azimuth.Proposal
---@param result azimuth.ProposedText
local function show(session_id, proposal, result)
  local left = documents.load(proposal.uri)
  vim.cmd("tab split")
  local left_window = vim.api.nvim_get_current_win()
  vim.api.nvim_win_set_buf(left_window, left)
  vim.cmd("rightbelow vertical split")
  local right_window = vim.api.nvim_get_current_win()
  local right = vim.api.nvim_create_buf(false, true)
  local view = {
    session_id = session_id,
    proposal_id = proposal.proposalId,
    revision = result.revision,
    left = left,
    right = right,
    left_window = left_window,
    right_window = right_window,
    deletes = false,
  }
  views[right] = view
  vim.api.nvim_buf_set_name(right, ("azimuth-review://%s/%s/%s"):format(session_id, proposal.proposalId, proposal.path))
  vim.api.nvim_win_set_buf(right_window, right)
  vim.bo[right].buftype = "acwrite"
  vim.bo[right].bufhidden = "wipe"
  vim.bo[right].swapfile = false
  take(view, result)
  vim.bo[right].filetype = vim.bo[left].filetype
  vim.api.nvim_create_autocmd("BufWriteCmd", {
    buffer = right,
    callback = function()
      change(view)
    end,
  })
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = right,
    callback = vim.schedule_wrap(function()
      closed(view)
    end),
  })
  marks.set_plain(left, 1)
  map(left, "left")
  map(right, "right")
  for _, window in ipairs({ right_window, left_window }) do
    vim.api.nvim_win_call(window, function()
      vim.cmd("diffthis")
    end)
  end
  vim.api.nvim_set_current_win(left_window)
  require("azimuth.review").refresh()
  vim.cmd("silent! normal! gg")
  if vim.fn.diff_hlID(1, 1) == 0 then
    vim.cmd("silent! normal! ]c")
  end
end

--- Shows a proposal side by side.
---@param session_id string
---@param proposal azimuth.Proposal
function M.open(session_id, proposal)
  for right, view in pairs(views) do
    if view.session_id == session_id and view.proposal_id == proposal.proposalId then
      vim.api.nvim_set_current_win(vim.fn.win_findbuf(right)[1])
      return
    end
  end
  local params = { sessionId = session_id, proposalId = proposal.proposalId }
  client.request("azimuth/review/text", params, function(err, result)
    if err then
      decide.failed(session_id, err, "the side-by-side view")
      return
    end
    show(session_id, proposal, result)
  end)
end

return M
