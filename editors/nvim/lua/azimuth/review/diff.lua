--- The proposed text of a file as a buffer of its own, `azimuth-review://`, alone for a new file and else side by side with
--- the document in a tab. It can be edited: `:w` changes what is proposed. Closing it decides nothing.
---
--- A new file is shown only so: a buffer with its name would be a document already, and the proposal to make it void.
---
--- Where a proposal has landed in its document, the buffer shows the text before, to the left of it, and cannot be edited;
--- alone where the file is there no more.

local client = require("azimuth.client")
local config = require("azimuth.config")
local protocol = require("azimuth.generated.protocol")
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
---@field own integer The buffer of the proposed text, or of the text before.
---@field deletes boolean Whether the file is to be deleted.
---@field side? { document: integer, document_window: integer, own_window: integer } Where it stands beside the document.

--- The open views, by their own buffer.
---@type table<integer, azimuth.review.View>
local views = {}

---@param view azimuth.review.View
---@return azimuth.Proposal?
local function proposal_of(view)
  local state = client.state(view.session_id)
  return state and state.proposals[view.proposal_id]
end

--- Puts a text into a view's own buffer, without a change of the user's to undo.
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

--- Returns the words of the bar above the proposed text, the weightiest first.
---@param view azimuth.review.View
---@param proposal? azimuth.Proposal
---@return string[]
local function bar(view, proposal)
  local count = proposal and hunks.count(proposal) or { hunks = 0, conflicts = 0 }
  local accept, reject = keys.shown("accept") .. " accepts", keys.shown("reject") .. " rejects"
  if count.hunks == 0 then
    return { "all is decided" }
  elseif proposal and proposal.landed and not view.side then
    return { "the file was deleted", keys.shown("accept") .. " keeps it so", keys.shown("reject") .. " takes it back" }
  elseif proposal and proposal.landed then
    return { "as it was before", config.values.mappings and "dp takes back, do keeps" or nil }
  elseif view.deletes then
    return { "the file is to be deleted", accept, reject }
  elseif not view.side then
    return { "new file", accept, reject, ":w changes it" }
  end
  local said = { "proposed" }
  if count.conflicts > 0 then
    said[1] = ("proposed, without %s in conflict"):format(text.plural(count.conflicts, "hunk"))
  end
  vim.list_extend(said, config.values.mappings and { "dp accepts", "do rejects" } or {})
  table.insert(said, ":w changes it")
  return said
end

--- Writes as much into a window's bar as fits.
---@param window integer
---@param said string[]
local function set_bar(window, said)
  if not vim.api.nvim_win_is_valid(window) then
    return
  end
  local count = #said
  while count > 1 and vim.fn.strdisplaywidth(table.concat(said, " · ", 1, count)) + 2 > vim.api.nvim_win_get_width(window) do
    count = count - 1
  end
  vim.wo[window][0].winbar = count > 0 and " " .. text.bar(table.concat(said, " · ", 1, count)) or ""
end

---@param view azimuth.review.View
local function bars(view)
  for _, window in ipairs(vim.fn.win_findbuf(view.own)) do
    set_bar(window, bar(view, proposal_of(view)))
  end
  if view.side then
    local proposal = proposal_of(view)
    local said = proposal and proposal.landed and { "as it is", "do takes back, dp keeps" } or { "your text", "do accepts", "dp rejects" }
    set_bar(view.side.document_window, config.values.mappings and said or { said[1] })
  end
end

---@param view azimuth.review.View
---@param result azimuth.ProposedText
local function take(view, result)
  local proposal = proposal_of(view)
  local landed = proposal ~= nil and proposal.landed == true
  view.revision = result.revision
  view.deletes = not landed and result.proposed == nil
  put(view.own, landed and result.base or not landed and result.proposed or "")
  vim.bo[view.own].modifiable = not landed and not view.deletes
  bars(view)
  vim.cmd("silent! diffupdate")
end

--- Shows the file itself where a new file was proposed that is there now.
---@param view azimuth.review.View
---@param proposal azimuth.Proposal
local function follow_into_file(view, proposal)
  if not view.side and vim.uv.fs_stat(vim.uri_to_fname(proposal.uri)) then
    for _, window in ipairs(vim.fn.win_findbuf(view.own)) do
      vim.api.nvim_win_set_buf(window, documents.load(proposal.uri))
    end
  end
end

--- Asks for what is proposed now, and shows it unless the user has edited it.
---@param view azimuth.review.View
local function fetch(view)
  local params = { sessionId = view.session_id, proposalId = view.proposal_id }
  client.request(protocol.requests.review_text, params, function(err, result)
    if views[view.own] ~= view or vim.bo[view.own].modified then
      return
    end
    if result then
      take(view, result)
    elseif view.revision == 0 then
      decide.failed(view.session_id, err, "the proposed text")
    end
    -- The next event tells what was decided in the meantime.
  end)
end

---@param view azimuth.review.View
local function update(view)
  local proposal = proposal_of(view)
  if not proposal or vim.bo[view.own].modified then
    bars(view)
  elseif #hunks.open(proposal) > 0 then
    fetch(view)
  else
    if view.side and vim.api.nvim_buf_is_loaded(view.side.document) then
      put(view.own, whole_text(view.side.document))
      vim.cmd("silent! diffupdate")
    end
    vim.bo[view.own].modifiable = false
    bars(view)
    follow_into_file(view, proposal)
  end
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
  local sent = vim.api.nvim_buf_get_changedtick(view.own)
  client.request(protocol.requests.review_change, {
    sessionId = view.session_id,
    proposalId = view.proposal_id,
    revision = view.revision,
    text = whole_text(view.own),
  }, function(err, result)
    if err then
      decide.failed(view.session_id, err, "changing the proposal")
      return
    end
    if not views[view.own] then
      return
    end
    for _, proposal in ipairs(result.proposals) do
      if proposal.proposalId == view.proposal_id then
        view.revision = proposal.revision
      end
    end
    if vim.api.nvim_buf_get_changedtick(view.own) == sent then
      vim.bo[view.own].modified = false
      update(view)
    end
    decide.say("the proposal is changed. Nothing is decided yet.")
  end)
end

--- The hunks at some lines of a view's own text, from 0.
---@param bufnr integer
---@param first integer
---@param last integer
---@return { proposal: azimuth.Proposal, hunk: azimuth.Hunk }[]? # Nil if the buffer is of no view.
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
  if proposal and (view.deletes or proposal.landed and not view.side) then
    found = vim.tbl_map(function(hunk)
      return { proposal = proposal, hunk = hunk }
    end, hunks.open(proposal))
  end
  return found
end

--- The proposal that a buffer is the view of.
---@param bufnr integer
---@return azimuth.Proposal?
function M.proposal(bufnr)
  return views[bufnr] and proposal_of(views[bufnr])
end

--- The view that the current window is a side of.
---@return azimuth.review.View?
local function view_here()
  local window, bufnr = vim.api.nvim_get_current_win(), vim.api.nvim_get_current_buf()
  if views[bufnr] then
    return views[bufnr]
  end
  for _, view in pairs(views) do
    if view.side and view.side.document_window == window and view.side.document == bufnr then
      return view
    end
  end
end

--- True if the current window is a side of a view of what has landed, false if of what is proposed.
---@return boolean? # Nil if it is of no view.
function M.landed_here()
  local view = view_here()
  local proposal = view and proposal_of(view)
  if proposal then
    return proposal.landed == true
  end
end

--- The decision made by obtaining a change from the other side, or by putting it there: on the left is what is, or was,
--- on the right what would be, or is.
local decisions = { left = { ["do"] = "accept", ["dp"] = "reject" }, right = { ["do"] = "reject", ["dp"] = "accept" } }

--- Decides the hunk at the cursor of a side. A document can be a side of two views, of what is proposed and of what has
--- landed, in which it does not stand on the same side.
---@param lhs "do"|"dp"
local function decide_beside(lhs)
  local view, landed = view_here(), M.landed_here()
  if not view or landed == nil then
    vim.api.nvim_feedkeys(lhs, "n", false)
    return
  end
  local is_left = (vim.api.nvim_get_current_buf() == view.own) == landed
  vim.cmd.Azimuth(decisions[is_left and "left" or "right"][lhs])
end

---@param bufnr integer
local function map(bufnr)
  if not config.values.mappings then
    return
  end
  for lhs, desc in pairs({ ["do"] = "the hunk as the other side has it", dp = "the hunk as this side has it" }) do
    vim.keymap.set("n", lhs, function()
      decide_beside(lhs)
    end, { buffer = bufnr, silent = true, desc = "Azimuth: " .. desc })
  end
end

--- Takes back what a view did to the document beside it.
---@param view azimuth.review.View
local function closed(view)
  local side = view.side
  if not side then
    return
  end
  marks.set_plain(side.document, -1)
  for _, other in pairs(views) do
    if other.side and other.side.document == side.document then
      return
    end
  end
  for lhs in pairs(decisions.left) do
    pcall(vim.keymap.del, "n", lhs, { buffer = side.document })
  end
  if vim.api.nvim_win_is_valid(side.document_window) then
    vim.api.nvim_win_call(side.document_window, function()
      vim.cmd("diffoff")
    end)
    vim.wo[side.document_window][0].winhighlight = vim.go.winhighlight
    set_bar(side.document_window, {})
  end
  require("azimuth.review").refresh()
end

--- The name of the buffer of a proposal's text.
---@param session_id string
---@param proposal azimuth.Proposal
---@return string
function M.name(session_id, proposal)
  return ("azimuth-review://%s/%s/%s"):format(session_id, proposal.proposalId, proposal.path)
end

--- Texts that were asked for before their buffer was made, by its name.
---@type table<string, azimuth.ProposedText>
local fetched = {}

--- Makes a buffer with such a name a view.
---@param bufnr integer
---@param name string
local function read(bufnr, name)
  local session_id, proposal_id, path = name:match("^azimuth%-review://([^/]+)/([^/]+)/(.*)$")
  if not session_id then
    decide.say(("%s names no proposal."):format(name), vim.log.levels.ERROR)
    return
  end
  local view = { session_id = session_id, proposal_id = proposal_id, revision = 0, own = bufnr, deletes = false }
  views[bufnr] = view
  vim.bo[bufnr].buftype = "acwrite"
  vim.bo[bufnr].bufhidden = "unload"
  vim.bo[bufnr].swapfile = false
  vim.bo[bufnr].buflisted = false
  if fetched[name] then
    take(view, fetched[name])
    fetched[name] = nil
  else
    fetch(view)
  end
  vim.bo[bufnr].filetype = vim.filetype.match({ filename = path, buf = bufnr }) or ""
  keys.map(bufnr)
end

local group = vim.api.nvim_create_augroup("azimuth.review.diff", { clear = true })
vim.api.nvim_create_autocmd("BufReadCmd", {
  group = group,
  pattern = "azimuth-review://*",
  callback = function(args)
    read(args.buf, args.match)
  end,
})
vim.api.nvim_create_autocmd("BufWriteCmd", {
  group = group,
  pattern = "azimuth-review://*",
  callback = function(args)
    if views[args.buf] and vim.bo[args.buf].modifiable then
      change(views[args.buf])
    end
  end,
})
vim.api.nvim_create_autocmd("BufUnload", {
  group = group,
  pattern = "azimuth-review://*",
  callback = function(args)
    local view = views[args.buf]
    if view then
      views[args.buf] = nil
      keys.unmap(args.buf)
      vim.schedule(function()
        closed(view)
      end)
    end
  end,
})

--- Has a side look as its lines do in the file: what goes on the left, what comes on the right.
---@param window integer
---@param side "Add"|"Delete"
local function dress(window, side)
  local own = ("DiffAdd:Azimuth%s,DiffChange:Azimuth%s,DiffText:Azimuth%sText,DiffTextAdd:Azimuth%sText,DiffDelete:AzimuthFiller"):format(side, side, side, side)
  local users = vim.wo[window].winhighlight
  vim.wo[window][0].winhighlight = users == "" and own or users .. "," .. own
end

---@param session_id string
---@param proposal azimuth.Proposal
local function show_beside(session_id, proposal)
  local document, own = documents.load(proposal.uri), vim.fn.bufadd(M.name(session_id, proposal))
  local left, right = document, own
  if proposal.landed then
    left, right = own, document
  end
  vim.cmd("tab split")
  local left_window = vim.api.nvim_get_current_win()
  vim.api.nvim_win_set_buf(left_window, left)
  vim.cmd("rightbelow vertical split")
  local right_window = vim.api.nvim_get_current_win()
  vim.api.nvim_win_set_buf(right_window, right)
  local view = views[own]
  local document_window = document == left and left_window or right_window
  view.side = {
    document = document,
    document_window = document_window,
    own_window = document == left and right_window or left_window,
  }
  marks.set_plain(document, 1)
  map(left)
  map(right)
  for _, window in ipairs({ right_window, left_window }) do
    vim.api.nvim_win_call(window, function()
      vim.cmd("diffthis")
    end)
    dress(window, window == left_window and "Delete" or "Add")
  end
  bars(view)
  vim.api.nvim_set_current_win(document_window)
  require("azimuth.review").refresh()
  vim.cmd("silent! normal! gg")
  if vim.fn.diff_hlID(1, 1) == 0 then
    vim.cmd("silent! normal! ]c")
  end
end

--- True if a proposal is shown as a text of its own: there is no document to compare it with.
---@param proposal azimuth.Proposal
---@return boolean
function M.is_alone(proposal)
  return proposal.change == (proposal.landed and "delete" or "create") and documents.buffer(proposal.uri) == nil
end

--- Shows what is proposed, or has landed: a new file, or a deleted one, alone, in a window for files, and else side by side.
---@param session_id string
---@param proposal azimuth.Proposal
function M.open(session_id, proposal)
  local name = M.name(session_id, proposal)
  local window = vim.fn.win_findbuf(vim.fn.bufadd(name))[1]
  if window then
    vim.api.nvim_set_current_win(window)
  elseif M.is_alone(proposal) then
    documents.show_buffer(vim.fn.bufadd(name))
  else
    client.request(protocol.requests.review_text, { sessionId = session_id, proposalId = proposal.proposalId }, function(err, result)
      if err then
        decide.failed(session_id, err, "the side-by-side view")
      else
        fetched[name] = not views[vim.fn.bufadd(name)] and result or nil
        show_beside(session_id, proposal)
      end
    end)
  end
end

return M
