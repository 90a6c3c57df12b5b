--- All that is proposed in one list: the quickfix list with a line a hunk, and a picker with a line a file.

local diff = require("azimuth.review.diff")
local documents = require("azimuth.review.documents")
local hunks = require("azimuth.review.hunks")
local marks = require("azimuth.review.marks")
local sources = require("azimuth.review.sources")
local text = require("azimuth.text")

local M = {}

--- Our quickfix list, once made.
---@type integer?
local quickfix = nil

---@param proposals azimuth.Proposal[]
---@return table[]
local function items(proposals)
  local list = {}
  for _, proposal in ipairs(proposals) do
    local bufnr = documents.buffer(proposal.uri)
    local rows = {}
    for _, place in ipairs(bufnr and marks.list(bufnr) or {}) do
      rows[place.item.hunk.hunkId] = place.row
    end
    local name = diff.is_alone(proposal) and diff.name(sources.session_of(proposal.proposalId), proposal)
    for _, hunk in ipairs(hunks.open(proposal)) do
      local old, new = hunks.lines(hunk.oldText), hunks.lines(hunk.newText)
      local what = ("-%d +%d"):format(#old, #new)
      if proposal.change == "create" then
        what = "new file, " .. text.plural(#new, "line")
      elseif proposal.change == "delete" then
        what = proposal.landed and "the file was deleted" or "deletes the file"
      end
      if proposal.landed then
        what = "already in, " .. what
      end
      if hunk.state == "conflicted" then
        what = "conflict, " .. what
      end
      table.insert(list, {
        filename = name or vim.uri_to_fname(proposal.uri),
        lnum = (rows[hunk.hunkId] or hunk.startLine) + 1,
        col = 1,
        type = hunk.state == "conflicted" and "W" or proposal.landed and "I" or "",
        text = vim.fn.strtrans(("%s  %s"):format(what, text.one_line(new[1] or old[1] or "", 100))),
      })
    end
  end
  return list
end

--- Fills the quickfix list with the open hunks and opens it.
---@param proposals azimuth.Proposal[]
function M.quickfix(proposals)
  vim.fn.setqflist({}, " ", { title = "Azimuth: hunks to review", items = items(proposals) })
  quickfix = vim.fn.getqflist({ id = 0 }).id
  vim.cmd("botright copen")
end

--- Keeps our quickfix list true, wherever in the stack it is.
---@param proposals azimuth.Proposal[]
function M.refresh(proposals)
  if not quickfix then
    return
  end
  local ours = vim.fn.getqflist({ id = quickfix, idx = 0 })
  if ours.id ~= quickfix then
    quickfix = nil
    return
  end
  local list = items(proposals)
  vim.fn.setqflist({}, "r", { id = quickfix, items = list, idx = math.max(1, math.min(ours.idx, #list)) })
end

local letters = { create = "A", modify = "M", delete = "D" }

--- Lets the user choose a file, and goes on with its proposal.
---@param proposals azimuth.Proposal[]
---@param go fun(proposal: azimuth.Proposal)
function M.pick(proposals, go)
  local widest = 0
  for _, proposal in ipairs(proposals) do
    widest = math.max(widest, vim.fn.strdisplaywidth(vim.fn.strtrans(proposal.path)))
  end
  vim.ui.select(proposals, {
    prompt = "Azimuth: files to review",
    kind = "azimuth-review",
    format_item = function(proposal)
      local count = hunks.count(proposal)
      local path = vim.fn.strtrans(proposal.path)
      local conflicts = count.conflicts > 0 and (", %d in conflict"):format(count.conflicts) or ""
      local landed = proposal.landed and ", already in" or ""
      return ("%s %s%s  %s  -%d +%d%s%s"):format(
        letters[proposal.change] or "?",
        path,
        (" "):rep(widest - vim.fn.strdisplaywidth(path)),
        text.plural(count.hunks, "hunk"),
        count.removed,
        count.added,
        conflicts,
        landed
      )
    end,
  }, function(proposal)
    -- The list may have stood open for long.
    local now = proposal and sources.now(proposal.proposalId)
    if now then
      go(now)
    end
  end)
end

return M
