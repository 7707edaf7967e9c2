/* What the page of a campaign has that is the same for all: style, places, and the script that draws. */
#ifndef ORR_TOOLS_CAMPAIGN_CAMPAIGN_SCRIPT_H
#define ORR_TOOLS_CAMPAIGN_CAMPAIGN_SCRIPT_H

extern const char orr_campaign_head[], orr_campaign_body[];
extern const char *const orr_campaign_script[]; /* ends with NULL */

#endif
