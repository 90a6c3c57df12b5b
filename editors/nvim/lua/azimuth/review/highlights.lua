--- The groups of review: links to the standard groups, and backgrounds that are made of the colour scheme's own colours.
---
--- `DiffDelete` is made for the empty lines of a diff, and often has no background; `DiffText` is made for changed lines, and
--- is louder than an added or a deleted one. So what would go gets the background of what would come in the scheme's red,
--- and changed words get that of their line, a little stronger.

local highlights = require("azimuth.highlights")

local M = {}

M.groups = {
  AzimuthAdd = "DiffAdd",
  AzimuthAddSign = "Added",
  AzimuthChangeSign = "Changed",
  AzimuthDeleteSign = "Removed",
  AzimuthFiller = "NonText",
  AzimuthConflict = "DiagnosticVirtualTextWarn",
  AzimuthConflictSign = "DiagnosticSignWarn",
}

--- How much stronger changed words are than their line, in lightness from 0 to 1.
local STRONGER = 0.08

---@param colour integer
---@return number hue From 0 to 6.
---@return number saturation
---@return number lightness
local function to_hsl(colour)
  local red, green, blue = bit.rshift(colour, 16) / 255, bit.band(bit.rshift(colour, 8), 255) / 255, bit.band(colour, 255) / 255
  local most, least = math.max(red, green, blue), math.min(red, green, blue)
  local lightness, range = (most + least) / 2, most - least
  if range == 0 then
    return 0, 0, lightness
  end
  local hue = most == red and (green - blue) / range % 6 or most == green and (blue - red) / range + 2 or (red - green) / range + 4
  return hue, range / (1 - math.abs(2 * lightness - 1)), lightness
end

---@param hue number
---@param saturation number
---@param lightness number
---@return integer colour
local function from_hsl(hue, saturation, lightness)
  local reach = saturation * math.min(lightness, 1 - lightness)
  local function channel(at)
    local place = (at + hue * 2) % 12
    return math.floor(255 * (lightness - reach * math.max(-1, math.min(place - 3, 9 - place, 1))) + 0.5)
  end
  return channel(0) * 0x10000 + channel(8) * 0x100 + channel(4)
end

---@param group string
---@return vim.api.keyset.get_hl_info
local function look(group)
  return vim.api.nvim_get_hl(0, { name = group, link = false })
end

--- A background as strong as another in the hue of a third colour.
---@param strength? integer
---@param hue? integer
---@return integer?
local function tinted(strength, hue)
  if not strength or not hue then
    return nil
  end
  local _, saturation, lightness = to_hsl(strength)
  return from_hsl((to_hsl(hue)), saturation, lightness)
end

---@param background integer
---@return integer
local function stronger(background)
  local hue, saturation, lightness = to_hsl(background)
  return from_hsl(hue, saturation, lightness < 0.5 and lightness + STRONGER or lightness - STRONGER)
end

--- The groups that are made of others, by name. Where the scheme has no colours for one it is a link.
---@return table<string, vim.api.keyset.highlight>
local function made()
  local added, deleted = look("DiffAdd").bg, look("DiffDelete").bg
  deleted = deleted or tinted(added, look("DiffDelete").fg or look("Removed").fg)
  return {
    AzimuthAddText = added and { bg = stronger(added), bold = true } or { link = "DiffText" },
    AzimuthDelete = deleted and { bg = deleted } or { link = "DiffDelete" },
    AzimuthDeleteText = deleted and { bg = stronger(deleted), bold = true } or { link = "DiffText" },
  }
end

---@type table<string, vim.api.keyset.get_hl_info> What was made of the scheme before this one.
local before = {}

--- Makes the groups anew, but none that a scheme or a user has set.
local function make()
  for group, look_of_it in pairs(made()) do
    local now = vim.api.nvim_get_hl(0, { name = group })
    if next(now) == nil or vim.deep_equal(now, before[group]) then
      vim.api.nvim_set_hl(0, group, look_of_it)
      before[group] = vim.api.nvim_get_hl(0, { name = group })
    end
  end
end

highlights.groups = vim.tbl_extend("force", highlights.groups, M.groups)
highlights.set()
make()
local group = vim.api.nvim_create_augroup("azimuth.review.highlights", { clear = true })
vim.api.nvim_create_autocmd("ColorScheme", { group = group, callback = make })
vim.api.nvim_create_autocmd("OptionSet", { group = group, pattern = "background", callback = make })

return M
