--- The content of a proposal: the open hunks, where they stand in the proposed text, and the words that differ. Pure.

local M = {}

--- Where words are compared, the texts of a hunk are together no longer than this many bytes.
local MAX_COMPARED = 20000
--- Words are marked only where at least this part of the shorter side stays the same; else all of it would be marked.
local MIN_COMMON = 0.3

--- True if a hunk still waits for the user.
---@param hunk azimuth.Hunk
---@return boolean
function M.is_open(hunk)
  return hunk.state == "pending" or hunk.state == "conflicted"
end

---@param proposal azimuth.Proposal
---@return azimuth.Hunk[]
function M.open(proposal)
  return vim.tbl_filter(M.is_open, proposal.hunks)
end

--- A hunk with its texts turned to the document: `oldText` is what stands there now. Of a landed proposal, whose hunks are in
--- the document already, that is what the hunk has put there, and what it would be replaced by is what was there before.
---@param proposal azimuth.Proposal
---@param hunk azimuth.Hunk
---@return azimuth.Hunk
function M.facing(proposal, hunk)
  if not proposal.landed then
    return hunk
  end
  return vim.tbl_extend("force", hunk, { oldText = hunk.newText, newText = hunk.oldText })
end

--- The proposals with open hunks, in the order in which they appeared.
---@param state? azimuth.State
---@return azimuth.Proposal[]
function M.proposals(state)
  local list = {}
  for _, id in ipairs(state and state.proposal_order or {}) do
    if #M.open(state.proposals[id]) > 0 then
      table.insert(list, state.proposals[id])
    end
  end
  return list
end

--- Of some proposals, or hunks with theirs, those that have landed, or those that wait.
---@generic T: azimuth.Proposal|{ proposal: azimuth.Proposal }
---@param list T[]
---@param landed boolean
---@return T[]
function M.of_kind(list, landed)
  return vim.tbl_filter(function(one)
    return ((one.proposal or one).landed == true) == landed
  end, list)
end

--- The hunks of one kind: those that wait for the user, else those that have landed.
---@generic T: { proposal: azimuth.Proposal }
---@param list T[]
---@return T[]
function M.one_kind(list)
  local waiting = M.of_kind(list, false)
  return #waiting > 0 and waiting or list
end

--- The proposals that have landed and of which something can be taken back, and what that does to how many files.
---@param proposals azimuth.Proposal[]
---@return azimuth.Proposal[] able
---@return integer writes
---@return integer deletes
function M.to_take_back(proposals)
  local able = vim.tbl_filter(function(proposal)
    return vim.iter(proposal.hunks):any(function(hunk)
      return hunk.state == "pending"
    end)
  end, M.of_kind(proposals, true))
  local made = vim.tbl_filter(function(proposal)
    return proposal.change == "create"
  end, able)
  return able, #able - #made, #made
end

--- The lines of a text, without their ends.
---@param text string
---@return string[]
function M.lines(text)
  if text == "" then
    return {}
  end
  local lines = vim.split(text, "\n", { plain = true })
  if lines[#lines] == "" then
    lines[#lines] = nil
  end
  return lines
end

---@class azimuth.review.Count
---@field hunks integer
---@field conflicts integer
---@field added integer Lines.
---@field removed integer Lines.

--- Counts what is open of a proposal.
---@param proposal azimuth.Proposal
---@return azimuth.review.Count
function M.count(proposal)
  local count = { hunks = 0, conflicts = 0, added = 0, removed = 0 }
  for _, hunk in ipairs(M.open(proposal)) do
    count.hunks = count.hunks + 1
    count.conflicts = count.conflicts + (hunk.state == "conflicted" and 1 or 0)
    count.added = count.added + #M.lines(hunk.newText)
    count.removed = count.removed + #M.lines(hunk.oldText)
  end
  return count
end

--- Where the pending hunks stand in the proposed text, or of a landed proposal in the text before: its lines from `first` on,
--- `count` of them, from 0.
---@param proposal azimuth.Proposal
---@return { hunk: azimuth.Hunk, first: integer, count: integer }[]
function M.placed(proposal)
  local places, shift = {}, 0
  for _, hunk in ipairs(proposal.hunks) do
    if hunk.state == "pending" then
      local facing = M.facing(proposal, hunk)
      local count = #M.lines(facing.newText)
      table.insert(places, { hunk = hunk, first = hunk.startLine + shift, count = count })
      shift = shift + count - #M.lines(facing.oldText)
    end
  end
  return places
end

--- The hunk at a line of the proposed text.
---@param proposal azimuth.Proposal
---@param row integer From 0.
---@return azimuth.Hunk?
function M.at_proposed(proposal, row)
  for _, place in ipairs(M.placed(proposal)) do
    if row >= place.first and row < place.first + place.count then
      return place.hunk
    end
  end
  -- A hunk that only takes lines away has no line of its own; it is between two.
  for _, place in ipairs(M.placed(proposal)) do
    if place.count == 0 and (row == place.first or row == place.first - 1) then
      return place.hunk
    end
  end
end

-- Words -------------------------------------------------------------------------------------------------------------

---@class azimuth.review.Token
---@field text string
---@field row integer
---@field from integer First byte, from 0.
---@field to integer Exclusive.

---@param lines string[]
---@return azimuth.review.Token[]
local function tokens(lines)
  local list = {}
  for row, line in ipairs(lines) do
    local at = 1
    while at <= #line do
      local _, stop = line:find("^[%w_\128-\255]+", at)
      if not stop then
        _, stop = line:find("^%s+", at)
      end
      stop = stop or at
      table.insert(list, { text = line:sub(at, stop), row = row - 1, from = at - 1, to = stop })
      at = stop + 1
    end
    table.insert(list, { text = "\n", row = row - 1, from = #line, to = #line })
  end
  return list
end

--- A token a line. The token of a line's end is written with two characters that never make a token.
---@param list azimuth.review.Token[]
---@return string
local function written(list)
  local texts = {}
  for _, token in ipairs(list) do
    table.insert(texts, token.text == "\n" and "\\n" or token.text)
  end
  return table.concat(texts, "\n") .. "\n"
end

---@class azimuth.review.Span
---@field row integer From 0, within the hunk.
---@field from integer Byte, from 0.
---@field to integer Exclusive.

--- The spans of changed tokens. Those that only a blank parts become one.
---@param list azimuth.review.Token[]
---@param changed table<integer, boolean>
---@return azimuth.review.Span[]
local function spans(list, changed)
  local found = {}
  for at, token in ipairs(list) do
    local last = found[#found]
    local blank = changed[at - 1] and not changed[at] and changed[at + 1] and token.text:find("^ +$")
    if (changed[at] or blank) and token.to > token.from then
      if last and last.row == token.row and last.to == token.from then
        last.to = token.to
      else
        table.insert(found, { row = token.row, from = token.from, to = token.to })
      end
    end
  end
  return found
end

local diff = vim.text and vim.text.diff or vim.diff

--- The words that a hunk changes: of the lines it replaces, and of those it puts there. Both are empty if the
--- texts have too little in common.
---@param hunk azimuth.Hunk
---@return azimuth.review.Span[] old
---@return azimuth.review.Span[] new
function M.words(hunk)
  if hunk.oldText == "" or hunk.newText == "" or #hunk.oldText + #hunk.newText > MAX_COMPARED then
    return {}, {}
  end
  local old, new = tokens(M.lines(hunk.oldText)), tokens(M.lines(hunk.newText))
  local gone, come = {}, {}
  for _, part in ipairs(diff(written(old), written(new), { result_type = "indices" }) --[[@as integer[][] ]]) do
    for at = part[1], part[1] + part[2] - 1 do
      gone[at] = true
    end
    for at = part[3], part[3] + part[4] - 1 do
      come[at] = true
    end
  end
  local function weigh(list, changed)
    local all, same = 0, 0
    for at, token in ipairs(list) do
      if not token.text:find("^%s") then
        all = all + #token.text
        same = same + (changed[at] and 0 or #token.text)
      end
    end
    return all, same
  end
  local all_old, same = weigh(old, gone)
  local all_new = weigh(new, come)
  if same < MIN_COMMON * math.min(all_old, all_new) or same == 0 then
    return {}, {}
  end
  return spans(old, gone), spans(new, come)
end

return M
